"""Roles of columns, guessed from names and values."""

import pytest

from fairtransport.app.roles import guess_good, guess_roles, is_group_name
from fairtransport.data.preview import ColumnPreview

ROWS = 1000


def column(name, *values, distinct=None, numeric=None):
    """Return a column of a file of 1,000 rows."""
    texts = tuple(map(str, values))
    is_number = all(not isinstance(value, str) for value in values) if numeric is None else numeric
    return ColumnPreview(name, is_number, distinct or len(texts), 0, texts[:6])


@pytest.mark.parametrize(
    ("one", "role"),
    [
        (column("application_id", 1, 2, 3, distinct=1000), "unused"),
        (column("applicantId", "a1", "a2", distinct=990), "unused"),
        (column("full name", "Ann Lee", "Bo Li", distinct=995), "unused"),
        (column("branch_id", 1, 2, 3), "case"),
        (column("income", 1000, 2000, distinct=998), "case"),
        (column("valid", "2024-01-31", "2024-02-01", distinct=300), "unused"),
        (column("applied", "31/01/2024", "1/2/2024", distinct=300), "unused"),
        (column("signup_date", "Jan 3", "Feb 4", distinct=300), "unused"),
        (column("up_to_date", "yes", "no"), "case"),
        (column("sex", "f", "m"), "sensitive"),
        (column("applicant_gender", "f", "m", "x"), "sensitive"),
        (column("Race/Ethnicity", "White", "Black"), "sensitive"),
        (column("race", 1, 2, distinct=400), "case"),
        (column("sex", "f"), "case"),
        (column("age_cat", "18-29", "30+"), "case"),
        (column("decision", "approved", "declined"), "prediction"),
        (column("y_pred", 0, 1), "prediction"),
        (column("granted", 0, 1), "prediction"),
        (column("high_risk", 0, 1), "prediction"),
        (column("result", "accepted", "rejected"), "prediction"),
        (column("loan_grade", "A", "B"), "case"),
        (column("outcome", "accepted", "rejected"), "prediction"),
        (column("outcome", "paid", "late"), "label"),
        (column("two_year_recid", 0, 1), "label"),
        (column("repaid", 0, 1), "label"),
        (column("count", 3, 4, distinct=30), "counts"),
        (column("account", 3, 4, distinct=30), "case"),
        (column("proba", 0.1, 0.2, distinct=500), "score"),
        (column("credit_score", 1, 2, distinct=500), "case"),
        (column("employment", "yes", "no"), "case"),
        (column("approved_amount", 1, 2, distinct=700), "case"),
        (column("nothing", distinct=1), "case"),
    ],
)
def test_a_column_is_guessed(one, role):
    assert guess_roles([one], ROWS) == {one.name: role}


def test_only_one_column_is_the_decision_and_one_the_outcome():
    columns = [
        column("prediction", 0, 1), column("decision", "yes", "no"), column("label", 0, 1),
        column("target", 0, 1), column("proba", 0.1, 0.2, distinct=500), column("income", 1, 2),
    ]  # fmt: skip

    roles = guess_roles(columns, ROWS)

    assert roles["decision"] == "prediction"
    assert roles["proba"] == roles["target"] == roles["prediction"] == "unused"
    assert roles["label"] == "label"
    assert [*roles.values()].count("prediction") == 1


def test_in_a_short_file_different_values_mean_nothing():
    assert guess_roles([column("name", "Ann", "Bo", distinct=9)], 9) == {"name": "case"}


@pytest.mark.parametrize(
    ("one", "good"),
    [
        (column("decision", "declined", "approved"), "approved"),
        (column("decision", "Approved", "Declined", "Referred"), "Approved"),
        (column("result", "denied", "ok"), "ok"),
        (column("granted", 0, 1), "1"),
        (column("high_risk", 0, 1), "0"),
        (column("rejected", "no", "yes"), "no"),
        (column("rating", "high", "low"), "low"),
        (column("decision", 0, 1), None),
        (column("decision", "A", "B"), None),
        (column("decision", "declined", "A", "B"), None),
        (column("approved_or_declined", 0, 1), None),
    ],
)
def test_the_good_decision_is_guessed_where_words_tell_it(one, good):
    assert guess_good(one) == good


def test_groups_are_offered_by_their_names():
    names = ("sex", "age_cat", "Age", "page", "agent", "income")
    assert [*map(is_group_name, names)] == [True, True, True, False, False, False]
