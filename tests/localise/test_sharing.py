"""Sharing: no small cell in a document that is handed over, and none that can be worked out."""

import json
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.localise.audits import compas_audit, priced_audit

from fairtransport.errors import InputError
from fairtransport.localise import too_small
from fairtransport.summary import Move


@given(st.lists(st.integers(0, 30), max_size=12), st.integers(2, 8))
def test_what_is_hidden_cannot_be_had_from_the_total(counts, at_least):
    people = np.array(counts, float)
    hidden = too_small(people, at_least)

    assert not ((people > 0) & (people < at_least) & ~hidden).any()
    assert not hidden[people == 0].any()
    if hidden.any() and not hidden[people > 0].all():
        assert hidden.sum() >= 2
        # all hidden ones but one may have one person each: that one still is not few
        assert people[hidden].sum() - (hidden.sum() - 1) >= at_least


def test_five_lonely_moves_do_not_give_each_other_away():
    people = np.array([1, 1, 1, 1, 1, 20, 30], float)
    assert too_small(people, 5).tolist() == [True] * 6 + [False]


def test_a_cell_is_hidden_when_few_of_its_people_are_left():
    people, rest = np.array([33, 30, 90], float), np.array([3, 0, 60], float)
    assert too_small(people, 5).tolist() == [False] * 3
    # the second hides nothing of the first: together they still leave three
    assert too_small(people, 5, rest=rest).tolist() == [True] * 3


def flows_from_moves(summary, feature):
    """The flows, worked out from nothing but the moves of the document."""
    change = {}
    for move in summary.moves:
        for profile, sign in ((move.from_profile, -1), (move.to_profile, 1)):
            group = tuple(profile[name] for name in summary.provenance.sensitive)
            key = (move.label, profile[feature], group)
            change[key] = change.get(key, 0) + sign * move.people
    return {key: value for key, value in change.items() if value}


@pytest.mark.parametrize("at_least", [2, 5, 10])
def test_a_shared_document_has_no_cell_with_few_people(at_least):
    result = compas_audit()
    summary = result.document(at_least)

    assert all(move.people >= at_least for move in summary.moves)
    assert all(row.people is None and row.moved >= at_least for row in summary.most_affected)
    for table in summary.flows:
        assert table.kind == "descriptive"
        for cell in table.cells:
            assert cell.people is None
            assert cell.out == 0 or cell.out >= at_least
            assert cell.into == 0 or cell.into >= at_least
    for row in summary.groups:
        assert row.people is None or row.people >= at_least
        assert row.risk is None
        assert row.risk_after is None
    shown = sum(move.people for move in summary.moves)
    assert shown + summary.suppression.moved_hidden == summary.moved
    assert summary.suppression.moves_hidden + len(summary.moves) == summary.moves_found


def test_a_shared_documents_flows_tell_no_more_than_its_moves():
    summary = compas_audit().document(5)
    for table in summary.flows:
        told = {
            (cell.label, cell.level, tuple(cell.group.values())): cell.change
            for cell in table.cells
            if cell.change
        }
        assert told == flows_from_moves(summary, table.feature)


def test_a_shared_document_tells_no_hash_no_pair_and_no_corners():
    result = priced_audit(1, budget=0.01)
    summary = result.document(3)

    assert summary.provenance.data_sha256 is None
    assert result.summary.provenance.data_sha256 not in summary.to_json()
    assert summary.worst_pair is None
    assert result.summary.worst_pair is not None
    assert summary.provenance.seed is None
    assert summary.provenance.similarity_record is None
    assert summary.law is None
    assert result.summary.law is not None
    assert summary.without_feature == summary.budget_curve == ()
    assert (summary.price_interval.lower, summary.price_interval.upper) == (None, None)


def test_a_curve_of_one_corner_is_told():
    assert compas_audit().document(5).budget_curve == compas_audit().summary.budget_curve


def test_hidden_moves_are_nowhere_in_the_text():
    result = compas_audit()
    text = result.document(10).to_json()
    document = json.loads(text)
    few = [move for move in result.summary.moves if move.people < 10]

    assert few
    listed = [(row["from_profile"], row["to_profile"], row["label"]) for row in document["moves"]]
    for move in few:
        assert (move.from_profile, move.to_profile, move.label) not in listed
    assert {field.name for field in fields(Move)} == set(document["moves"][0])


@pytest.mark.parametrize("share", [0, 1, 2.5, "5", True])
def test_a_limit_that_hides_nothing_is_refused(share, tmp_path):
    with pytest.raises(InputError, match="`share` must be a whole number >= 2, got"):
        compas_audit().to_json(tmp_path / "audit.json", share=share)
