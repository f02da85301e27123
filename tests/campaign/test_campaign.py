"""Every kind of bad or odd input gets a clear sentence or a right result, and nothing else."""

import importlib
import pkgutil

import pytest

import tests.campaign
from tests.campaign.conftest import PROPERTY
from tests.campaign.kinds import CLEAR, RIGHT, outcome

pytestmark = pytest.mark.odd
FEWEST = 400
TABLES = sorted(
    name for _, name, _ in pkgutil.iter_modules(tests.campaign.__path__) if name.startswith("of_")
)
KINDS = [
    kind
    for table in TABLES
    for kind in importlib.import_module(f"tests.campaign.{table}").KINDS
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=[f"{kind.entry}: {kind.name}" for kind in KINDS])
def test_a_kind_is_clear_or_right(kind, record_property):
    came = outcome(kind)
    record_property(PROPERTY, (kind.entry, came if came in {CLEAR, RIGHT} else "other"))

    assert came == (RIGHT if kind.says is None else CLEAR)


def test_there_are_kinds_enough():
    assert len({(kind.entry, kind.name) for kind in KINDS}) == len(KINDS) >= FEWEST
