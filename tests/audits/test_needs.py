"""An audit says what memory it needs, and does not begin if the machine has less."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport._core import parallel
from fairtransport.audits import run
from fairtransport.errors import DataError

AUDIT = """
import sys
import numpy as np
import pandas as pd
import fairtransport as ft
from fairtransport.audits import run
from fairtransport.transport import frontiers

needs = []
for module in (run, frontiers):
    check = module.check_fits
    module.check_fits = lambda *about: needs.append(check(*about)) or needs[-1]
size = int(sys.argv[1])
rng = np.random.default_rng(0)
people = pd.DataFrame(rng.normal(size=(size, 4)), columns=list("abcd"))
people["group"] = rng.integers(0, 2, size)
people["good"] = (rng.random(size) < 1 / (1 + np.exp(-people["a"]))).astype(int)

result = ft.audit(
    people, "good", model=lambda table: 1 / (1 + np.exp(-table["a"] - 0.5 * table["group"])),
    sensitive_features="group", budget=0.05, delta=0.05, rng=0, loss="brier",
    similarity=ft.similarity.MixedTabular(scales=dict.fromkeys("abcd", 1.0)),
)
result.to_html(sys.argv[2])
# not ru_maxrss: that of a process begins with what the one that started it holds
status = dict(line.split(":") for line in open("/proc/self/status"))
print(int(status["VmHWM"].split()[0]) * 1024, max(needs))
"""


@pytest.mark.slow
def test_an_audit_takes_no_more_memory_than_it_says_it_needs(tmp_path):
    line = [sys.executable, "-c", AUDIT, "40000", str(tmp_path / "report.html")]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    peak, needed = map(float, done.stdout.split())

    assert peak <= needed


def test_what_cannot_fit_is_refused_before_the_model_is_asked(monkeypatch):
    monkeypatch.setattr(parallel, "machine_memory", lambda: 100_000_000)
    people = pd.DataFrame({"g": [0, 1] * 10, "y": [0, 1] * 10})

    def model(_):
        pytest.fail("the model was asked")

    with pytest.raises(
        DataError,
        match=r"^4 different rows of 2 columns need about .*, and this machine has 100 MB; ",
    ):
        ft.audit(people, "y", model=model, sensitive_features="g", rng=0)


def test_large_audits_say_what_they_need(monkeypatch):
    notices = []
    monkeypatch.setattr(run, "print_notice", notices.append)
    # what other tests left in this process is not this audit's
    monkeypatch.setattr(parallel, "resident", lambda: 0)
    people = pd.DataFrame({"g": [0, 1] * 10, "y": [0, 1] * 10})
    settings = {"sensitive_features": "g", "rng": 0}

    ft.audit(people, "y", model=lambda table: np.zeros(len(table)), **settings)
    assert notices == []
    monkeypatch.setattr(run, "MIN_NOTICE_BYTES", 1)
    ft.audit(people, "y", model=lambda table: np.zeros(len(table)), **settings)
    assert len(notices) == 1
    assert notices[0].startswith("The audit of 4 different rows of 2 columns needs about ")
