"""An audit as an assertion."""

import numpy as np
import pandas as pd
import pytest

from fairtransport.errors import InputError
from fairtransport.testing import assert_delta_fair


def people(n):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "points": rng.integers(0, 9, n)})
    return frame.assign(good=(frame["points"] > 4).astype(int))


def biased(points):
    return (points["points"] > 3 + (points["sex"] == "f")).astype(int)


def nearly_alike(points):
    return (points["points"] > 4).astype(int) | ((points["sex"] == "x") & (points["points"] == 4))


ASKED = {"sensitive_features": "sex", "levels": {"sex": ["f", "m", "x"]}, "rng": 0}


@pytest.mark.parametrize("require", ["certified", "not-rejected"])
def test_a_rejected_model_fails(require):
    with pytest.raises(AssertionError, match="δ-fairness rejected at level 5 %"):
        assert_delta_fair(biased, people(400), "good", delta=0.02, require=require, **ASKED)


def test_what_is_undecided_passes_only_where_that_was_asked():
    asked = dict(delta=0.2, **ASKED)
    with pytest.raises(AssertionError, match="nconclusive"):
        assert_delta_fair(nearly_alike, people(20), "good", **asked)
    result = assert_delta_fair(nearly_alike, people(20), "good", require="not-rejected", **asked)
    assert result.verdict == "inconclusive"


def test_a_certified_model_passes():
    assert assert_delta_fair(nearly_alike, people(400), "good", delta=0.3, **ASKED).verdict == (
        "certified"
    )


@pytest.mark.parametrize("require", ["certified", "not-rejected"])
def test_an_audit_that_could_find_nothing_fails(require):
    asked = dict(features=["points"], sensitive_features="sex", rng=0, require=require)
    with pytest.raises(AssertionError, match="receives no sensitive feature"):
        assert_delta_fair(
            lambda points: (points["points"] > 4) * 1, people(100), "good", delta=0.1, **asked
        )


def test_an_unknown_requirement_is_refused():
    with pytest.raises(InputError, match="`require` must be"):
        assert_delta_fair(biased, people(20), "good", delta=0.1, require="fair", **ASKED)
