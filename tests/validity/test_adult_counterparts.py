"""Counterparts of real people: nobody is accused by a coin, and nobody is a female husband."""

import pytest

from tests.validity.adult_counterparts import (
    LEGITIMATE,
    TOSSES,
    audit_coin,
    audit_sex,
    find_impossible,
    train_blind,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def blind():
    """Return a model without sex and race, the columns that it receives, and people to audit."""
    return train_blind()


def test_a_coin_is_accused_at_most_once(blind):
    verdicts = [audit_coin(blind, seed).verdict for seed in range(TOSSES)]

    assert verdicts.count("not-applicable") >= TOSSES - 1
    assert "certified" not in verdicts


@pytest.mark.parametrize("legitimate", LEGITIMATE)
def test_impossible_people_are_rare(blind, legitimate):
    result = audit_sex(blind, legitimate)

    assert max(find_impossible(result).values()) < 0.01
    assert result.verdict == "rejected"
    # what may rightly count explains most of it
    assert (result.statistic < 0.06) == bool(legitimate)
