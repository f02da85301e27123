"""Guesses of the roles of a file's columns, from their names and values."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport.data.preview import ColumnPreview

CASE, LABEL, SENSITIVE, PREDICTION, SCORE, COUNTS, UNUSED = (
    "case", "label", "sensitive", "prediction", "score", "counts", "unused",
)  # fmt: skip
MAX_DECISIONS = 6
"""Maximum number of values of a column of decisions, as in a preview."""
MAX_GROUPS = 20
"""Maximum number of values of a sensitive column."""
MIN_DISTINCT_SHARE = 0.8
"""Minimum share of distinct values in a column of IDs; counts are approximate."""
MIN_ROWS = 20
"""Minimum number of rows at which distinct values mean anything."""


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


SENSITIVE_WORDS = _word_set(
    "sex gender race ethnicity ethnic religion disability disabled nationality caste"
)
AGE_WORDS = _word_set("age ages")
ID_WORDS = _word_set("id ids uuid guid identifier")
DATE_WORDS = _word_set("date datetime timestamp")
COUNT_NAMES = _word_set("count counts")
SCORE_WORDS = _word_set("proba probability")
GOOD_WORDS = _word_set(
    "approved approve approval accepted accept granted grant hired hire admitted admit selected "
    "shortlisted invited offered passed pass eligible paid"
)
BAD_WORDS = _word_set(
    "declined decline denied deny rejected reject refused refuse failed fail flagged ineligible "
    "fraud unpaid"
)
DECISION_WORDS = (
    _word_set("decision decided"),
    _word_set("prediction predicted pred"),
    (GOOD_WORDS | BAD_WORDS) - {"paid", "unpaid", "fraud"},
)
"""Words of a column of decisions, the surest first."""
OUTCOME_WORDS = _word_set(
    "outcome label target actual truth default defaulted repaid recid recidivated reoffended "
    "reoffence"
)
GOOD_ANSWERS = GOOD_WORDS | {"low", "low risk", "good"}
BAD_ANSWERS = BAD_WORDS | {"high", "high risk", "bad"}
YES, NO = frozenset({"1", "1.0", "true", "yes", "y"}), frozenset({"0", "0.0", "false", "no", "n"})


def guess_roles(columns: Sequence[ColumnPreview], rows: int) -> dict[str, str]:
    """Return the likely role of each column; by default, it describes a case."""
    roles = {column.name: _guess_alone(column, rows) for column in columns}
    free = [one for one in columns if roles[one.name] == CASE and is_decision_list(one)]
    decision = next(
        (one for rank in range(len(DECISION_WORDS) + 1) for one in free if _is_decision(one, rank)),
        None,
    )
    for one in free:  # another column of decisions does not describe a case
        if _words(one.name) & (DECISION_WORDS[0] | DECISION_WORDS[1]):
            roles[one.name] = UNUSED
    if decision is not None:
        roles[decision.name] = PREDICTION
    outcomes = [one for one in free if one is not decision and _words(one.name) & OUTCOME_WORDS]
    for place, one in enumerate(outcomes):
        roles[one.name] = LABEL if place == 0 else UNUSED
    for column in columns:
        if roles[column.name] == SCORE and decision is not None:
            roles[column.name] = UNUSED
    return roles


def guess_good(column: ColumnPreview) -> str | None:
    """Return the likely value that is good for a person; None if unclear."""
    values = {value: value.strip().lower() for value in column.examples}
    good = [value for value, text in values.items() if text in GOOD_ANSWERS]
    bad = [value for value, text in values.items() if text in BAD_ANSWERS]
    if len(good) == 1:
        return good[0]
    if len(values) != 2:  # noqa: PLR2004 - of two decisions the other one is known
        return None
    if len(bad) == 1:
        return next(value for value in values if value != bad[0])
    words = _words(column.name)
    is_good, is_bad = bool(words & GOOD_WORDS), bool(words & BAD_WORDS) or _is_high_risk(words)
    if is_good == is_bad:
        return None
    return next((value for value, text in values.items() if text in (YES if is_good else NO)), None)


def is_group_name(name: str) -> bool:
    """Return whether a column is named like protected groups, ages included."""
    return bool(_words(name) & (SENSITIVE_WORDS | AGE_WORDS))


def _guess_alone(column: ColumnPreview, rows: int) -> str:
    """Return the role of a column, if it does not depend on the others."""
    words = _words(column.name)
    if _is_unique(column, rows, words) or _is_date(column, words):
        return UNUSED
    if words & SENSITIVE_WORDS and 1 < column.distinct <= MAX_GROUPS:
        return SENSITIVE
    if column.numeric and column.name.strip().lower() in COUNT_NAMES:
        return COUNTS
    if column.numeric and words & SCORE_WORDS and column.distinct > MAX_DECISIONS:
        return SCORE
    return CASE


def _words(name: str) -> frozenset[str]:
    """Return the words of a name, as in applicant_id, applicantId or "Applicant ID"."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return frozenset(re.findall(r"[a-z]+", parted.lower()))


def _is_unique(column: ColumnPreview, rows: int, words: frozenset[str]) -> bool:
    """Return whether a column only identifies rows: an ID, or distinct texts."""
    if rows < MIN_ROWS or column.distinct < MIN_DISTINCT_SHARE * rows:
        return False
    return not column.numeric or bool(words & ID_WORDS)


def _is_date(column: ColumnPreview, words: frozenset[str]) -> bool:
    if not column.examples:
        return False
    if all(map(_reads_as_date, column.examples)):
        return True
    return bool(words & DATE_WORDS) and column.distinct > MAX_DECISIONS


def _reads_as_date(text: str) -> bool:
    try:
        dt.datetime.fromisoformat(text)
    except ValueError:
        return bool(re.fullmatch(r"\d{1,2}[./-]\d{1,2}[./-]\d{4}", text))
    return not text.isdecimal()  # 20240131 is a number too


def is_decision_list(column: ColumnPreview) -> bool:
    """Return whether a column has few enough values to be a list of decisions."""
    return 1 < column.distinct <= MAX_DECISIONS


def _is_decision(column: ColumnPreview, rank: int) -> bool:
    """Return whether a column's name, or in the last rank its values, are those of decisions."""
    words = _words(column.name)
    if rank < len(DECISION_WORDS):
        last = rank == len(DECISION_WORDS) - 1
        return bool(words & DECISION_WORDS[rank]) or (last and _is_high_risk(words))
    answers = {value.strip().lower() for value in column.examples}
    return bool(answers & (GOOD_WORDS | BAD_WORDS)) and answers <= (
        GOOD_ANSWERS | BAD_ANSWERS | {"referred", "pending", "waitlisted"}
    )


def _is_high_risk(words: frozenset[str]) -> bool:
    return {"high", "risk"} <= words
