"""Sentences say what the numbers say, and never that a model is fair."""

from dataclasses import replace

import pytest

from fairtransport.documents.audit import CurvePoint
from fairtransport.report import text as disclosure
from fairtransport.report.sections import certainty as depends
from fairtransport.report.sections import certainty as sure
from fairtransport.report.sections import finding, moves
from fairtransport.report.sections import finding as notes
from fairtransport.report.sections.appendix import GLOSSARY, facts
from tests.report.samples import sample, with_budget


def test_a_rejection():
    assert finding.verdict_title(sample()) == "Over the limit"
    assert finding.verdict_sentence(sample()) == (
        "δ-fairness rejected at level 5 %: with 95 % confidence the population's statistic is "
        "at least 0.0508, more than δ = 0.0365; p < 0.0001."
    )


def test_a_bound_that_hardly_exceeds_delta_is_told_apart_from_it():
    close = sample(lower_bound=0.036502)
    assert "at least 0.036502, more than δ = 0.036500" in finding.verdict_sentence(close)


def test_a_certificate():
    certified = sample(verdict="certified", upper_bound=0.0211, lower_bound=0.01, alpha=0.1)
    assert finding.verdict_sentence(certified) == (
        "δ-fairness certified at level 10 %: with 90 % confidence the population's statistic is "
        "at most 0.0211, no more than δ = 0.0365."
    )


@pytest.mark.parametrize(
    ("lower", "upper", "said"),
    [
        (0.03, 0.07, ("the lower bound, 0.0300, does not exceed δ = 0.0365, and the upper bound, "
                     "0.0700, does")),
        (0.03, None, ("the lower bound, 0.0300, does not exceed δ = 0.0365, and there is no upper "
                     "bound")),
        (None, 0.07, "there is no lower bound, and the upper bound, 0.0700, does"),
        (0.05, 0.02, ("the bounds contradict each other (at least 0.0500, at most 0.0200), so "
                     "δ = 0.0365 is neither rejected nor certified")),
    ],
)  # fmt: skip
def test_an_open_question(lower, upper, said):
    summary = sample(verdict="inconclusive", lower_bound=lower, upper_bound=upper)
    assert finding.verdict_sentence(summary) == f"Not settled at level 5 %: {said}."


@pytest.mark.parametrize(
    ("lower", "upper", "said"),
    [
        (0.03, 0.07, "at least 0.0300, and with as much confidence it is at most 0.0700."),
        (0.03, None, "at least 0.0300; there is no upper bound."),
        (None, 0.07, "at most 0.0700; there is no lower bound."),
        (None, None, "not bounded."),
    ],
)
def test_without_delta_there_are_bounds_only(lower, upper, said):
    summary = sample(delta=None, verdict=None, pvalue=None, lower_bound=lower, upper_bound=upper)
    sentence = finding.verdict_sentence(summary)
    assert sentence.startswith("No verdict: ")
    assert sentence.endswith(said)


def test_errors_are_percentages_and_other_losses_numbers():
    assert finding.meaning(sample()) == (
        "Errors would go from 33.4 % to 39.5 % if everybody were judged as the similar person for "
        "whom the model does worst (34.1 % as a random similar person)."
    )
    assert finding.meaning(with_budget()) == (
        "The mean log loss would go from about 0.3340 to about 0.3946 if people were swapped, "
        "within the budget, with the similar people for whom the model does worst."
    )
    small = sample(statistic=0.0001, worst_case_risk=0.3341)
    assert "from 33.4 % to 33.41 %" in finding.meaning(small)
    none = sample(statistic=0.0, worst_case_risk=0.334)
    assert "would not rise above 33.4 %" in finding.meaning(none)


def test_for_which_delta_the_verdict_would_differ():
    assert depends.delta_sentences(sample()) == (
        "δ below 0.0508: over the limit (rejected).",
        "δ of 0.0711 or more: within the limit (certified).",
        "δ of 0.0508 or more and below 0.0711: not settled (inconclusive).",
        depends.CHOSEN_LATE,
    )
    assert depends.delta_sentences(sample(lower_bound=0.0, upper_bound=None)) == (
        "No δ: over the limit (rejected), because the lower bound is not above 0.",
        "No δ: within the limit (certified), because there is no upper bound.",
        "δ of 0.0000 or more: not settled (inconclusive).",
        depends.CHOSEN_LATE,
    )


def test_budget_and_scope_and_guarantee():
    assert "adds about 1.7 to the statistic per unit" in depends.budget_sentence(with_budget())
    assert depends.budget_sentence(sample()) is None
    assert "would not change" in depends.budget_sentence(sample(budget=0.1))
    flat = sample(budget_curve=(CurvePoint(0.0, 0.1), CurvePoint(1.0, 0.2)), price=0.0)
    assert "adds 0 to" in depends.budget_sentence(flat)
    assert "never the verdict “within the limit”" in moves.scope_meaning(with_budget())
    assert "approximate" in sure.guarantee_meaning(sample(guarantee="asymptotic"))
    assert "at every sample size" in sure.guarantee_meaning(sample())
    for guarantee in sure.GUARANTEES:
        told = sure.guarantee_meaning(sample(guarantee=guarantee))
        assert "independently of each other" in told


def test_what_is_left_out_is_said_once():
    shared = with_budget()
    assert notes.notes(shared)[0].startswith("This report is made to be shared.")
    assert "Numbers of people are multiples of 5" in notes.notes(shared)[0]
    assert "bounds are multiples of 0.01 (or the limit δ)" in notes.notes(shared)[0]
    assert notes.notes(sample()) == sample().warnings
    assert disclosure.suppression_sentence(sample()) is None


def test_nothing_calls_a_model_fair():
    said = [*GLOSSARY.values(), finding.CAUTION, sure.NOT_SAID, *moves.SCOPES.values()]
    said += [finding.verdict_sentence(sample(verdict=v)) for v in ("rejected", "certified", None)]
    assert not [sentence for sentence in said if "is fair" in sentence]


def test_a_rounded_bound_still_holds():
    near = sample(lower_bound=0.03659, delta=0.03656)
    assert "at least 0.03659, more than δ = 0.03656" in finding.verdict_sentence(near)
    certified = sample(verdict="certified", upper_bound=0.03641, lower_bound=0.0)
    assert "at most 0.0365" not in finding.verdict_sentence(certified)
    assert "at most 0.03641, no more than δ = 0.03650" in finding.verdict_sentence(certified)
    assert depends.delta_sentences(sample(lower_bound=0.05089, upper_bound=0.07101)) == (
        "δ below 0.0508: over the limit (rejected).",
        "δ of 0.0711 or more: within the limit (certified).",
        "δ of 0.0508 or more and below 0.0711: not settled (inconclusive).",
        depends.CHOSEN_LATE,
    )
    assert "below 0.00003:" in depends.delta_sentences(sample(lower_bound=0.000031))[0]


def test_small_levels_are_told():
    strict = sample(alpha=1e-4)
    assert "at level 0.01 %: with 99.99 % confidence" in finding.verdict_sentence(strict)
    assert "at most 0.01 % of audits" in sure.guarantee_meaning(strict)


def test_an_approximate_level_is_called_so():
    rough = sample(guarantee="asymptotic")
    assert "with approximately 95 % confidence" in finding.verdict_sentence(rough)
    assert "approximately 5 % of audits" in sure.guarantee_meaning(rough)


def test_nothing_found_claims_no_more_than_the_budget():
    none = sample(statistic=0.0, moved=0.0, moves=())
    assert moves.moved_sentence(none) == (
        "No allowed swap leads to a wrong decision in place of a correct one for any of the 1,584 "
        "people."
    )


def test_twins_that_were_asked_about_are_compared_with_too():
    observed = sample(target_scope="observed")
    assert "audit data and with their copies that differ" in moves.scope_meaning(observed)
    without = sample(target_scope="observed", points=131)
    assert "with people in the audit data. Comparisons" in moves.scope_meaning(without)


def test_a_higher_prediction_is_not_called_worse():
    plain = sample()
    outcome = replace(
        plain, provenance=replace(plain.provenance, loss="outcome", loss_is_error=False)
    )
    nothing = replace(outcome, moved=0.0, statistic=0.0)
    said = [
        finding.meaning(outcome),
        finding.meaning(nothing),
        moves.moved_sentence(outcome),
        moves.moved_sentence(nothing),
        finding.caution(outcome),
        moves.flows_meaning(outcome),
    ]
    assert said[0].startswith("The mean prediction would rise from 0.3340 to 0.3946")
    assert "who has a higher prediction" in said[2]
    assert not [sentence for sentence in said if "worse" in sentence or "better" in sentence]
    titles = [column.title for column in moves.moves_table(outcome).columns]
    assert "Loss" not in titles


def test_what_a_shared_document_does_not_tell_is_not_claimed():
    shared = replace(with_budget(), budget_curve=())
    assert depends.budget_sentence(shared).endswith(
        "The statistic at other budgets is not shown here."
    )
    assert disclosure.hidden_moves_sentence(shared) == "Swaps of about 10 people are not shown."
    assert disclosure.hidden_moves_sentence(sample()) is None
    assert "Imagine that the swaps shown are made" in moves.flows_meaning(shared)
    assert moves.groups_table(shared).caption == "By group, of the swaps shown"
    cells = [cell.text for row in moves.groups_table(shared).rows for cell in row]
    assert "0" not in cells
    assert "0 shown" in cells
    silent = replace(shared, provenance=replace(shared.provenance, seed=None))
    assert dict(facts(silent))["Random seed"] == "left out"


def test_rounded_numbers_are_not_said_to_be_exact():
    shared = replace(with_budget(), moved=0.0, statistic=0.0, worst_case_risk=0.33)
    shared = replace(shared, baseline_risk=0.33, points=None, observed_points=None, queried=None)
    assert moves.moved_sentence(shared).startswith("Fewer than 5 of 1,584 people are swapped")
    assert "would stay at about" in finding.meaning(shared)
    assert dict(facts(shared))["Different rows compared"] == "left out"
    assert dict(facts(shared))["Model queried for"] == "left out"
    assert "about" in finding.meaning(with_budget())
    assert moves.moved_sentence(with_budget()).startswith("About ")


def test_a_bound_that_was_rounded_to_delta_says_what_the_verdict_says():
    shared = replace(with_budget(), delta=0.03, lower_bound=0.03, verdict="rejected", pvalue=0.01)
    assert finding.verdict_sentence(shared).endswith("statistic is more than δ = 0.0300; p ≤ 0.01.")
    assert depends.delta_sentences(shared)[0] == "δ up to 0.0300: over the limit (rejected)."
    assert depends.delta_sentences(shared)[-2].startswith("δ above 0.0300")
    assert disclosure.pvalue_text(shared, 1.0) == "p > 0.05"


def test_disagreement_stands_beside_the_verdict_only_where_it_is_much():
    assert not finding.has_much_disagreement(sample())
    assert not finding.has_much_disagreement(with_budget())
    much = replace(with_budget(), disagreement=0.03)
    assert finding.has_much_disagreement(much)
    assert "0.0300 of the statistic (50 %)" in finding.disagreement_sentence(much)


def test_scores_of_two_classes_are_one_number_with_the_same_decimals():
    table = moves.moves_table(with_budget())
    row = dict(zip([column.title for column in table.columns], table.rows[0], strict=True))
    assert row["Score of the last class"].text == "0.700 → 0.450"
    assert row["Loss"].text == "0.3567 → 0.8000"
    assert "only some of the people of one row" in moves.fractions_sentence(with_budget())
    assert moves.fractions_sentence(sample()) is None


def test_both_features_are_said_to_be_needed_only_of_people_who_are_counted():
    """Of graded losses each feature alone may add a part for the same person."""
    both = "For the remaining people both need to change."
    roles = sample().without_feature

    assert both in depends.feature_sentences(sample())
    assert both not in depends.feature_sentences(with_budget())
    assert both not in depends.feature_sentences(replace(with_budget(), without_feature=roles))
    whole = tuple(replace(role, statistic=sample().statistic) for role in roles)
    assert both not in depends.feature_sentences(sample(without_feature=whole))
