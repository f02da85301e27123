"""Table 1: five splits pinned, the cache and the comparison checked by hand.

The golden file holds the figures of LR, RWT and RLR on the splits of seeds 0 to 4. After a
change that is meant to move them, write it anew with

    python -m tests.reproduce.test_table1
"""

import json
import math
import sys
from pathlib import Path

import pandas as pd
import pytest
from tests.messages import raises

from fairtransport.cli import main
from fairtransport.errors import FairtransportError, InputError
from fairtransport.reproduce import common as extras
from fairtransport.reproduce import table1 as runs
from fairtransport.reproduce.common import SplitCache
from fairtransport.reproduce.compas import COLUMNS
from fairtransport.reproduce.fair_path import path_claims, race_coefficient_claims
from fairtransport.reproduce.methods import BASELINES, RepresentationSettings
from fairtransport.reproduce.table1 import (
    PAPER_MEANS,
    PAPER_SDS,
    Table1,
    build_lines,
    build_notes,
    format_markdown,
    print_table1,
    summarise,
    table1,
    write_table1,
)

GOLDEN = Path(__file__).with_name("table1_golden.json")
PINNED = ("LR", "RWT", "RLR")


def pinned_splits(folder):
    return [runs.complete_split(seed, PINNED, SplitCache(folder)) for seed in range(5)]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    pinned_splits(folder)
    return folder


@pytest.mark.slow
@pytest.mark.reproduce
def test_five_splits_of_lr_rwt_and_rlr_are_as_pinned(cache):
    golden = json.loads(GOLDEN.read_text("utf-8"))
    for seed, wanted in enumerate(golden):
        found = runs.complete_split(seed, PINNED, SplitCache(cache))
        for method in PINNED:
            # statistics are counts over n, so only the last bits may differ
            assert found[method]["figures"] == pytest.approx(
                wanted[method]["figures"], rel=0, abs=1e-12
            )
            assert found[method]["details"].get("entry_order") == wanted[method]["details"].get(
                "entry_order"
            )


@pytest.mark.reproduce
def test_a_kept_split_is_not_computed_again_and_a_lacking_method_is(cache, monkeypatch):
    kept = runs.complete_split(1, PINNED, SplitCache(cache))

    def forbidden(*_):
        pytest.fail("a kept method was computed again")

    monkeypatch.setattr(
        runs, "BASELINES", dict.fromkeys(PINNED, forbidden) | {"new": BASELINES["LR"]}
    )
    more = runs.complete_split(1, (*PINNED, "new"), SplitCache(cache))
    assert {name: more[name] for name in PINNED} == {name: kept[name] for name in PINNED}
    assert more["new"] == kept["LR"]


def test_a_spoilt_file_of_the_cache_is_named(tmp_path):
    (tmp_path / "split-0003.json").write_text("{", "utf-8")
    with raises(FairtransportError, "split-0003.json' cannot be read; delete it"):
        runs.complete_split(3, ["LR"], SplitCache(tmp_path))


def test_other_settings_have_another_cache(monkeypatch, tmp_path):
    before = SplitCache.under(tmp_path, runs.build_run_settings())
    assert SplitCache.under(tmp_path, runs.build_run_settings()) == before
    monkeypatch.setattr(runs, "RepresentationSettings", lambda: RepresentationSettings(parity=1))
    assert SplitCache.under(tmp_path, runs.build_run_settings()) != before


def made(values, method="LR"):
    """A table whose figures all have the same values over the splits."""
    found = [
        {"seed": seed, method: {"figures": dict.fromkeys(COLUMNS, value), "details": {}}}
        for seed, value in enumerate(values)
    ]
    representation = {"representation": RepresentationSettings().as_dict()}
    return Table1(tuple(found), (method,), summarise(found, [method]), {}, representation)


def test_agreement_is_two_standard_errors_or_one_hundredth():
    table = made([0.0, 0.1] * 25)
    faith, accuracy = table.cell("LR", "faith"), table.cell("LR", "accuracy")
    sd = math.sqrt(50 * 0.05**2 / 49)
    assert faith["mean"] == pytest.approx(0.05)
    assert faith["sd"] == pytest.approx(sd)
    assert faith["allowed"] == pytest.approx(2 * math.sqrt((0.02**2 + sd**2) / 50))
    assert faith["agrees"]
    assert not accuracy["agrees"]
    still = made([0.0699] * 50).cell("LR", "faith")
    assert still["allowed"] == 0.01
    assert still["agrees"]
    assert not made([0.0701] * 50).cell("LR", "faith")["agrees"]


def test_one_split_borrows_the_papers_spread():
    cell = made([0.07]).cell("LR", "faith")
    assert math.isnan(cell["sd"])
    assert cell["allowed"] == pytest.approx(2 * 0.02 * math.sqrt(1 / 50 + 1))


def test_undefined_figures_are_left_out_and_told_of():
    table = made([0.05, None, 0.07])
    assert table.cell("LR", "eod")["undefined"] == 1
    assert table.cell("LR", "eod")["mean"] == pytest.approx(0.06)
    assert "eod of LR is undefined in 1 splits, which its mean leaves out." in build_notes(table)


def test_lines_show_paper_and_ours_and_mark_what_differs(tmp_path):
    table = made([0.06] * 50)
    paper, ours = build_lines(table)
    assert paper[:3] == ("LR", "paper", ".06 ± .02")
    assert paper[7] == "−.23 ± .04"
    assert ours[1:4] == ("ours", ".060 ± .000", ".060 ± .000")
    assert ours[6] == ".060 ± .000 ✗"
    assert ours[-1] == "4 of 8"
    assert "| LR | paper | .06 ± .02 |" in format_markdown(table)
    assert not any("So few splits" in note for note in build_notes(table))
    assert any("So few splits" in note for note in build_notes(made([0.06] * 5)))
    paths = write_table1(table, tmp_path / "new")
    assert sorted(path.name for path in paths) == ["table1.csv", "table1.json", "table1.md"]
    assert json.loads(paths[2].read_text("utf-8"))["summary"][0]["agrees"] is True
    assert len(pd.read_csv(paths[1])) == len(COLUMNS)
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == sorted(
        path.name for path in paths
    )


def test_a_representation_that_misses_is_said_not_to_be_reproduced():
    assert any(
        note.startswith("LFR is not reproduced") for note in build_notes(made([0.5] * 50, "LFR"))
    )


def test_the_papers_table_is_complete():
    assert set(PAPER_MEANS) == set(PAPER_SDS) == set(BASELINES)
    assert all(len(row) == len(COLUMNS) for row in (*PAPER_MEANS.values(), *PAPER_SDS.values()))


def test_the_printed_table_fits_a_narrow_window_and_says_what_agrees(capsys):
    print_table1(made([0.06] * 50))
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines()[:14])) <= 80
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in printed.splitlines()]
    assert ["LR", "FaiTH", ".06 ± .02", ".060 ± .000", "yes"] in rows
    assert ["", "Accuracy", ".67 ± .01", ".060 ± .000", "no"] in rows


@pytest.mark.parametrize("name", ["splits", "jobs"])
@pytest.mark.parametrize("value", [0, -1, 1.5, True])
def test_numbers_of_splits_and_jobs_are_checked(name, value, tmp_path):
    with pytest.raises(InputError, match=f"`{name}` must be a whole number >= 1"):
        table1(**{"splits": 1, name: value}, cache=tmp_path)


def test_a_missing_extra_is_said_in_a_sentence(monkeypatch, tmp_path, capsys):
    def absent(module):
        raise ModuleNotFoundError(name=module)

    monkeypatch.setattr(extras, "import_module", absent)
    monkeypatch.delitem(sys.modules, "aif360", raising=False)
    assert main(["reproduce", "table1", "--splits", "1", "--output", str(tmp_path)]) == 1
    words = " ".join(capsys.readouterr().err.split())
    sentence = (
        "This reproduction needs aif360, which is not installed: "
        "pip install 'fairtransport[reproduce]'"
    )
    assert words == f"Error: {sentence}"
    assert list(tmp_path.iterdir()) == []


def test_a_broken_extra_is_not_called_missing(monkeypatch):
    def broken(_):
        raise ModuleNotFoundError(name="something_else")

    monkeypatch.setattr(extras, "import_module", broken)
    monkeypatch.delitem(sys.modules, "aif360.datasets", raising=False)
    with pytest.raises(ModuleNotFoundError):
        extras.import_extra("aif360.datasets")


def test_the_published_table_is_that_of_its_splits():
    docs = Path(__file__).parents[2] / "docs"
    document = json.loads((docs / "reproduction" / "table1.json").read_text("utf-8"))
    found, methods = document["splits"], tuple(BASELINES)
    table = Table1(
        tuple(found), methods, summarise(found, methods), document["claims"], document["settings"]
    )
    assert len(found) == 50
    assert format_markdown(table) in (docs / "reproduction.md").read_text("utf-8")
    details = {name: [one[name]["details"] for one in found] for name in methods}
    assert document["claims"] == {
        "l1_path": path_claims(details["RLR"]),
        "race_coefficient": race_coefficient_claims(details["LR"], details["RWT"]),
    }
    # the pinned splits are the first of them
    for one, golden in zip(found, json.loads(GOLDEN.read_text("utf-8")), strict=False):
        assert one["RLR"]["figures"] == pytest.approx(golden["RLR"]["figures"], abs=1e-12)


@pytest.mark.slow
def test_the_command_runs_in_parallel_and_takes_up_where_it_was(tmp_path, capsys):
    command = ["reproduce", "table1", "--splits", "2", "--jobs", "2", "--output", str(tmp_path)]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert printed.count("Wrote") == 3
    assert all(name in printed for name in BASELINES)
    written = {path.name: path.read_bytes() for path in tmp_path.glob("table1.*")}
    kept = sorted(path.name for path in tmp_path.glob("table1-cache/*/*"))
    assert kept == ["split-0000.json", "split-0001.json"]
    assert main(command) == 0
    assert {path.name: path.read_bytes() for path in tmp_path.glob("table1.*")} == written
    # alone or side by side, a split comes out the same
    alone = runs.complete_split(1, tuple(BASELINES), SplitCache(tmp_path))
    together = json.loads(written["table1.json"])["splits"][1]
    assert {name: together[name] for name in BASELINES} == alone


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as scratch:
        text = json.dumps(pinned_splits(Path(scratch)), indent=1)
    GOLDEN.write_text(text + "\n", "utf-8")
