"""Whatever promises something names the units that were sampled, and what takes sizes as given."""

import re
from dataclasses import replace
from html import unescape

import pytest

from fairtransport.report import render, text
from fairtransport.report.sections import comparison as compared
from fairtransport.report.sections import family as families
from fairtransport.report.sections import finding, groups, moves
from fairtransport.report.terminal import print_comparison, print_family
from tests.report.samples import EQUAL_HOUSEHOLDS, HOUSEHOLDS, WEIGHTED, of_units, sample

UNITS = {
    "independent units of household, given these sizes": HOUSEHOLDS,
    "independent units of household": EQUAL_HOUSEHOLDS,
    "independently drawn people": WEIGHTED,
}


@pytest.mark.parametrize(("words", "units"), UNITS.items(), ids=["given", "equal", "weighted"])
def test_every_guarantee_names_the_unit(words, units):
    audit, comparison, family = of_units(units)
    part = replace(audit.attributable, same_group=0.01, lower_bound=0.04, verdict="rejected")
    audit = replace(audit, attributable=part, judge="attributable")
    sentences = (
        finding.verdict_sentence(audit),
        finding.verdict_sentence(replace(audit, delta=None, verdict=None)),
        finding.parts_sentence(audit),
        finding.part_verdict_sentence(audit),
        groups.levels_sentence(audit),
        compared.difference_sentence(comparison),
        compared.comparison_intervals_sentence(comparison),
        families.promise_sentence(family),
        families.intervals_sentence(family),
    )
    for sentence in sentences:
        assert f" for {words}" in sentence, sentence


def test_documents_and_screens_of_several_name_the_unit(capsys):
    _, comparison, family = of_units(HOUSEHOLDS)
    print_comparison(comparison, "Models")
    print_family(family, "Audits")
    words = "for independent units of household, given these sizes"
    assert " ".join(capsys.readouterr().out.replace("│", "").split()).count(words) >= 4
    for document in (comparison, family):
        for form in ("markdown", "html"):
            assert render(document, form).count(words) >= 2


HINT = "If rows belong together, as those of a household, name their column (`clusters`)."
RANDOM = "these {} are a random sample, drawn independently of each other"
CONDITION = f"Intervals and verdicts are valid only if {RANDOM}, "


@pytest.mark.parametrize(("kind", "units"), [("people", None), ("units of household", HOUSEHOLDS)])
def test_whatever_promises_for_several_says_that_people_are_independent(capsys, kind, units):
    _, comparison, family = of_units(units)
    for document, show in ((comparison, print_comparison), (family, print_family)):
        show(document, "Several")
        texts = [render(document, form) for form in ("html", "markdown", "notebook")]
        for shown in (*texts, capsys.readouterr().out):
            plain = re.sub("</?code>", "`", unescape(shown)).replace("\\(", "(").replace("\\)", ")")
            words = " ".join(plain.replace("│", "").split())
            assert CONDITION.format(kind) in words
            assert "were not used to train any of the models" in words
            assert (HINT in words) == (units is None)
        lead = texts[1].split("\n\n|")[0]
        assert f"for independent {kind}" in lead


def test_decisions_on_record_need_no_training_data_left_out():
    _, comparison, family = of_units(None)
    models = tuple(replace(one, queried=0) for one in comparison.models)
    for sentence in (
        compared.condition_sentence(replace(comparison, models=models)),
        families.condition_sentence(replace(family, queried=0)),
    ):
        assert f"{RANDOM.format('people')} from all those that the audit is about." in sentence
        assert "train" not in sentence


def test_a_family_of_different_units_names_the_condition_of_each():
    _, _, family = of_units(None)
    first, *rest = family.members
    mixed = replace(family, members=(replace(first, units=HOUSEHOLDS), *rest))
    sentence = families.condition_sentence(mixed)

    assert RANDOM.format("units of household") in sentence
    assert f"and {RANDOM.format('people')}" in sentence
    assert sentence.endswith(HINT)


def test_audits_of_one_family_may_sample_different_units():
    assert text.for_units(None, None) == ""
    assert text.for_units(None, EQUAL_HOUSEHOLDS, EQUAL_HOUSEHOLDS) == (
        " for independent people and independent units of household"
    )


@pytest.mark.parametrize("units", [EQUAL_HOUSEHOLDS, WEIGHTED], ids=["equal", "weighted"])
def test_weighted_numbers_are_not_said_to_be_people(units):
    audit, comparison, _ = of_units(units)
    audit = replace(audit, moved=96.4)
    assert moves.moved_sentence(audit) == (
        "6.1 % of 1,584 people (weighted) have a correct decision that would become wrong with "
        "another race or sex."
    )
    assert moves.fractions_sentence(audit) == (
        "People count by their weights, which add up to 1,584: numbers of people need not be whole."
    )
    assert "1,584, 6.1 % of them swapped (weighted)" in str(audit)
    assert "How many of the people with equal values (weighted) have a correct" in render(
        comparison, "markdown"
    )
    plain = replace(audit, units=HOUSEHOLDS, moved=96.0)
    assert moves.moved_sentence(plain) == moves.moved_sentence(sample(moved=96.0))
    assert moves.fractions_sentence(plain) is None
    assert "weighted" not in render(replace(comparison, units=HOUSEHOLDS), "markdown")
