"""Sharing: no small cell in a document that is handed over, and none that can be worked out."""

import json
from dataclasses import fields

import pytest
from tests.explain.audits import compas_audit, priced_audit

from fairtransport.errors import InputError
from fairtransport.explain.moves import Move


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
    counts = [row.people for row in (*summary.moves, *summary.groups) if row.people is not None]
    assert all(number % at_least == 0 for number in (summary.moved, *counts))
    assert summary.moves_found is None


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
    result = priced_audit(1, budget=0.2)
    summary = result.document(3)

    assert summary.provenance.data_sha256 is None
    assert result.summary.provenance.data_sha256 not in summary.to_json()
    assert summary.worst_pair is None
    assert result.summary.worst_pair is not None
    assert summary.provenance.seed is None
    assert summary.provenance.similarity_record is None
    assert summary.law is None
    assert result.summary.law is not None
    assert summary.without_feature == summary.budget_curve == summary.methods == ()
    assert (summary.points, summary.observed_points, summary.queried) == (None, None, 0)
    assert (summary.price_interval.lower, summary.price_interval.upper) == (None, None)


def test_a_curve_of_one_corner_is_told():
    document = compas_audit().document(5)
    (corner,) = document.budget_curve
    assert corner.value == document.statistic


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
    with pytest.raises(InputError, match="`share` must be a whole number of at least 2, got"):
        compas_audit().to_json(tmp_path / "audit.json", share=share)
