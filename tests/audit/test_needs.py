"""An audit says what memory it needs, keeps within what it may take, and else does not begin."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.audit import needs
from fairtransport.errors import InputError

AUDIT = """
import sys
import numpy as np
import pandas as pd
import fairtransport as ft

size, memory = int(sys.argv[1]), sys.argv[2] or None
rng = np.random.default_rng(0)
people = pd.DataFrame(rng.normal(size=(size, 4)), columns=list("abcd"))
people["group"] = rng.integers(0, 2, size)
people["good"] = (rng.random(size) < 1 / (1 + np.exp(-people["a"]))).astype(int)
asked = []

def model(table):
    asked.append(len(table))
    return 1 / (1 + np.exp(-table["a"] - 0.5 * table["group"]))

try:
    result = ft.audit(
        people, "good", model=model, sensitive_features="group", budget=0.05, delta=0.05, rng=0,
        similarity=ft.similarity.MixedTabular(scales=dict.fromkeys("abcd", 1.0)), loss="brier",
        memory=memory, search_rounds=int(sys.argv[3]) or None,
    )
    result.to_html(sys.argv[4])
    print("statistic", result.statistic)
except ft.InputError as error:
    print("refused", error)
print("asked", sum(asked))
# not ru_maxrss: that of a process begins with what the one that started it holds
status = dict(line.split(":") for line in open("/proc/self/status"))
print("peak", int(status["VmHWM"].split()[0]) * 1024)
"""


def audited(size, memory, page, rounds=0):
    """Return what an audit in a process of its own prints, by its first words."""
    line = [sys.executable, "-c", AUDIT, str(size), memory, str(rounds), str(page)]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    return dict(one.split(" ", 1) for one in done.stdout.splitlines())


def test_a_hopeless_limit_is_refused_before_the_model_is_asked(tmp_path):
    found = audited(2000, "100MB", tmp_path / "report.html")

    assert found["asked"] == "0"
    assert found["refused"].startswith("`memory` must be at least ")
    assert found["refused"].endswith(" for 4,000 points of 6 columns, got 100 MB")


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [0, 60])
def test_an_audit_stays_within_the_memory_it_is_given(tmp_path, rounds):
    free = audited(40_000, "", tmp_path / "report.html", rounds)
    limit = 900_000_000
    kept = audited(40_000, "900MB", tmp_path / "report.html", rounds)

    assert float(kept["peak"]) <= limit
    assert kept["statistic"] == free["statistic"]


def test_settings_refuse_what_is_no_amount():
    with pytest.raises(InputError, match="`memory` must be an amount"):
        ft.audit(pd.DataFrame({"g": [0, 1]}), model=len, sensitive_features="g", memory="lots")


def test_large_audits_say_what_they_need(monkeypatch):
    told = []
    monkeypatch.setattr(needs, "tell", told.append)
    monkeypatch.setattr(needs, "resident", lambda: 0)  # what other tests left is not this audit's
    people = pd.DataFrame({"g": [0, 1] * 10, "y": [0, 1] * 10})
    asked = {"sensitive_features": "g", "rng": 0}

    ft.audit(people, "y", model=lambda table: np.zeros(len(table)), **asked)
    assert told == []
    ft.audit(people, "y", model=lambda table: np.zeros(len(table)), **asked, memory="64GB")
    assert len(told) == 1
    assert told[0].startswith("The audit of 4 points of 2 columns needs about ")
    monkeypatch.setattr(needs, "WORTH_TELLING", 1)
    ft.audit(people, "y", model=lambda table: np.zeros(len(table)), **asked)
    assert len(told) == 2
