"""An audit as an assertion."""

from inspect import signature
from typing import get_args, get_type_hints

import numpy as np
import pandas as pd
import pytest

from fairtransport.documents.verdicts import FAIL_ON, VERDICT_VALUES, exit_code
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


@pytest.mark.parametrize("fail_on", ["rejected", "not-certified"])
def test_a_rejected_model_fails(fail_on):
    message = r"LIMIT   at least 2\.3 % of people[^;]*; limit 2 %\nbiased, 400 people"
    with pytest.raises(AssertionError, match=message):
        assert_delta_fair(biased, people(400), "good", delta=0.02, fail_on=fail_on, **ASKED)


def test_what_is_undecided_fails_only_where_a_certificate_is_asked_for():
    asked = dict(delta=0.2, **ASKED)
    with pytest.raises(AssertionError, match=r"NOT SETTLED   .*\n(.*\n)?nearly_alike, 20 people"):
        assert_delta_fair(nearly_alike, people(20), "good", fail_on="not-certified", **asked)
    result = assert_delta_fair(nearly_alike, people(20), "good", **asked)
    assert result.verdict == "inconclusive"


def test_a_certified_model_passes():
    assert assert_delta_fair(nearly_alike, people(400), "good", delta=0.3, **ASKED).verdict == (
        "certified"
    )


@pytest.mark.parametrize("fail_on", ["rejected", "not-certified"])
def test_an_audit_that_could_find_nothing_fails(fail_on):
    asked = dict(features=["points"], sensitive_features="sex", rng=0, fail_on=fail_on)
    with pytest.raises(AssertionError, match="does not receive"):
        assert_delta_fair(
            lambda points: (points["points"] > 4) * 1, people(100), "good", delta=0.1, **asked
        )


def test_an_unknown_rule_is_refused():
    with pytest.raises(
        InputError, match="`fail_on` must be one of 'rejected', 'not-certified', 'never'"
    ):
        assert_delta_fair(biased, people(20), "good", delta=0.1, fail_on="fair", **ASKED)


def test_nothing_fails_where_that_was_asked():
    result = assert_delta_fair(biased, people(400), "good", delta=0.02, fail_on="never", **ASKED)
    assert result.verdict == "rejected"


def test_assertion_and_command_line_have_the_same_rules_and_default():
    from fairtransport.cli.audit_command import audit

    default = signature(assert_delta_fair).parameters["fail_on"].default
    for verdict in (*VERDICT_VALUES, None):
        # the command line tells a rule that was not given from one that was
        assert exit_code(verdict, None) == exit_code(verdict, default)
    assert get_args(get_args(get_type_hints(audit)["fail_on"])[0]) == FAIL_ON


@pytest.mark.parametrize("fail_on", FAIL_ON)
def test_without_a_limit_nothing_could_fail(fail_on):
    for given in ({}, {"delta": None}):
        with pytest.raises(InputError, match="`delta` must be the limit, as in delta=0"):
            assert_delta_fair(biased, people(20), "good", fail_on=fail_on, **given, **ASKED)


def test_the_fixture_asks_for_a_limit_too(assert_delta_fair):
    with pytest.raises(InputError, match="`delta` must be the limit"):
        assert_delta_fair(biased, people(20), "good", fail_on="not-certified", **ASKED)
    with pytest.raises(TypeError, match=r"^assert_delta_fair\(\) missing 2 required"):
        assert_delta_fair()
