"""Clusters and weights in audits: what is refused, what the documents say."""

import json

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft

MANY = 60


def answer(asked):
    """Women with grade 2 are turned down, men are not."""
    return np.where(asked["grade"] == 2, (asked["sex"] == "m").astype(int), 1)


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    household = np.repeat(np.arange(MANY), rng.integers(1, 6, MANY))
    often = rng.beta(0.5, 1.5, MANY)
    return pd.DataFrame({
        "sex": rng.choice(["f", "m"], len(household)),
        "grade": 2 * (rng.random(len(household)) < often[household]),
        "household": [f"h{one}" for one in household],
        "weight": rng.integers(1, 9, len(household)).astype(float),
        "good": 1,
    })  # fmt: skip


def audit(people, **settings):
    options = {"features": ["sex", "grade"], "sensitive_features": "sex", "delta": 0.2, "rng": 0,
               "levels": {"sex": ["f", "m"]}}  # fmt: skip
    return ft.audit(people, "good", model=answer, **options | settings)


def test_clusters_widen_the_bounds_and_keep_the_statistic(people):
    rows = audit(people)
    known = audit(people, clusters=ft.Clusters("household", largest=5))
    given = audit(people, clusters="household")
    assert rows.statistic == pytest.approx(known.statistic) == pytest.approx(given.statistic)
    assert given.lower_bound < known.lower_bound < rows.lower_bound
    assert rows.upper_bound < known.upper_bound < given.upper_bound
    assert (known.n, known.summary.units.count) == (len(people), MANY)


def test_each_cluster_counts_once(people):
    result = audit(people, clusters=ft.Clusters("household", target="clusters"))
    gains = (people["grade"] == 2) & (people["sex"] == "m")
    assert result.statistic == pytest.approx(gains.groupby(people["household"]).mean().mean())
    assert result.summary.units.given == ""


def test_weights_are_those_of_the_survey(people):
    result = audit(people, sample_weight=ft.Weights("weight", largest=8))
    gains = (people["grade"] == 2) & (people["sex"] == "m")
    assert result.statistic == pytest.approx(np.average(gains, weights=people["weight"]))
    changed = result.decisions.changed
    assert changed.share == pytest.approx(
        np.average(people["grade"] == 2, weights=people["weight"])
    )
    assert changed.lower < changed.share < changed.upper
    scaled = people.assign(weight=people["weight"] / 8)
    same = audit(scaled, sample_weight=ft.Weights("weight", largest=1))
    assert (same.lower_bound, same.upper_bound) == (result.lower_bound, result.upper_bound)


def test_two_stages_multiply(people):
    result = audit(
        people, clusters=ft.Clusters("household", 5), sample_weight=ft.Weights("weight", 8)
    )
    assert result.space.units.limit == 40
    assert audit(people, clusters="household", sample_weight="weight").space.units.limit is None


def test_single_people_are_people(people):
    alone = people.assign(household=np.arange(len(people)))
    rows, single = audit(people), audit(alone, clusters=ft.Clusters("household", largest=1))
    assert (single.lower_bound, single.upper_bound) == (rows.lower_bound, rows.upper_bound)
    # that nobody happens to share a household says nothing of the population
    assert audit(alone, clusters="household").lower_bound < rows.lower_bound


def test_equal_weights_change_no_statistic(people):
    rows, weighted = audit(people), audit(people.assign(weight=3), sample_weight="weight")
    assert weighted.statistic == pytest.approx(rows.statistic)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"clusters": "household"}, "given these sizes"),
        ({"clusters": ft.Clusters("household", largest=5)}, "independent units of household"),
        ({"sample_weight": "weight"}, "given these weights"),
    ],
)
def test_documents_name_the_unit(people, settings, words, tmp_path):
    result = audit(people, **settings)
    assert any(words in note for note in result.warnings)
    for text in (result.to_markdown(), result.to_html(tmp_path / "report.html").read_text("utf-8")):
        assert words.split(" of ")[0] in text


@pytest.mark.parametrize(
    ("settings", "words", "basis"),
    [
        (
            {"clusters": "household"},
            "for independent units of household, given these sizes",
            "these units of household are a random sample, drawn independently of each other",
        ),
        (
            {"clusters": ft.Clusters("household", target="clusters")},
            "for independent units of household",
            "these units of household are a random sample, drawn independently of each other",
        ),
        (
            {"sample_weight": "weight"},
            "for independently drawn people, given these weights",
            "these people were drawn independently, with chances inverse to weight",
        ),
    ],
)
def test_every_surface_says_whom_the_bounds_are_for(people, settings, words, basis):
    from fairtransport.report.sections.decisions import holds_if
    from fairtransport.report.sections.finding import verdict_sentence

    result = audit(people, **settings)
    given = audit_predictions(people, deterministic=True, **settings)
    text = " ".join(str(result).split())
    assert words in text
    assert holds_if(result.summary).startswith(basis)
    assert holds_if(given.summary).startswith(basis)
    assert words in verdict_sentence(result.summary)
    assert words in verdict_sentence(given.summary)
    assert ("of these" in text) == (settings == {"clusters": "household"})
    assert ("(weighted: " in text) == ("sample_weight" in settings)


def test_first_screens_of_rates_name_the_unit(people):
    known = ft.Clusters("household", largest=5)
    result = audit_predictions(people.assign(grade=2), clusters=known)
    screen = " ".join(str(result).split())
    assert "with 95 % confidence for independent units of household" in screen


def test_mean_losses_of_groups_are_weighted(people):
    weights = ft.Weights("weight", largest=8)
    wrong = (people["sex"] == "f") & (people["grade"] == 2)
    after = np.where(people["grade"] == 2, 1.0, 0.0)
    result = audit(people, sample_weight=weights)
    [old] = [one.first for one in compare(people, sample_weight=weights).summary.groups
             if one.group == {"sex": "m"}]  # fmt: skip
    for one in result.summary.groups:
        group = people["sex"] == one.group["sex"]
        mean = [np.average(loss[group], weights=people["weight"][group]) for loss in (wrong, after)]
        assert [one.risk, one.risk_after] == pytest.approx(mean)
        if one.group["sex"] == "m":
            assert old == pytest.approx(mean[1])


def compare(people, **settings):
    models = {"old": answer, "new": lambda asked: np.ones(len(asked), int)}
    return ft.compare(people, "good", models=models, features=["sex", "grade"], rng=0,
                      sensitive_features="sex", **settings)  # fmt: skip


def test_two_stages_name_the_weight(people):
    for target, words in (
        ("people", "people count by their weight in weight."),
        ("clusters", "every unit counts once, its people by their weight in weight."),
    ):
        clusters = ft.Clusters("household", 5, target)
        result = audit(people, clusters=clusters, sample_weight=ft.Weights("weight", 8))
        assert any(words in note for note in result.warnings)


def test_the_outlook_counts_units(people):
    result = audit(people, clusters=ft.Clusters("household", largest=5), delta=result_delta(people))
    assert result.verdict == "inconclusive"
    assert result.outlook.cases > MANY
    more = result.outlook.cases - result.summary.units.count
    about = f"About {result.outlook.cases:,} units of household ({more:,} more than here) would"
    assert about in " ".join(str(result).split())


def result_delta(people):
    return round(audit(people).statistic + 0.02, 3)


@pytest.mark.parametrize(
    ("change", "settings", "message"),
    [
        ({}, {"clusters": "grade"}, "`features` and .* must not name the same column"),
        ({}, {"clusters": "good"}, "`clusters` and `y` must not name .*, got 'good' for both"),
        ({}, {"clusters": "house"}, "`clusters` must name columns of the data .*, got 'house'"),
        ({"household": 1}, {"clusters": "household"}, "two values or more, but .* has one"),
        ({"household": [None] * 2}, {"clusters": "household"}, "rows have no value in 'household'"),
        ({}, {"clusters": ft.Clusters("household", largest=2)}, "but one of .* has 5 rows"),
        ({}, {"clusters": 3}, "`clusters` must be a column's name or an ft.Clusters, got 3"),
        ({"weight": [-1.0]}, {"sample_weight": "weight"}, "1 rows of 'weight' break this, as -1"),
        ({"weight": [0.0]}, {"sample_weight": "weight"}, "1 rows of 'weight' break this, as 0"),
        ({"weight": [np.inf]}, {"sample_weight": "weight"}, "1 rows of .* break this, as inf"),
        ({"weight": [np.nan]}, {"sample_weight": "weight"}, "1 rows of .* break this, as nan"),
        ({}, {"sample_weight": "household"}, "must name a column of numbers above 0, but"),
        ({}, {"sample_weight": ft.Weights("weight", 7)}, "got 7, but 'weight' has 8"),
        ({}, {"clusters": "household", "sample_weight": "household"}, "must not name the same"),
        ({}, {"clusters": "household", "counts": "weight"}, "`clusters` must not be given with"),
        ({}, {"sample_weight": "weight", "counts": "good"}, "`sample_weight` must not be given"),
        ({}, {"clusters": "household", "method": "efron"}, "`method` 'efron'"),
        (
            {},
            {"clusters": "household", "queries": ft.Queries(until_sure=True)},
            "must not be given with `queries.until_sure`",
        ),
        ({}, {"weights": "weight"}, "pass survey weights as `sample_weight`"),
    ],
)  # fmt: skip
def test_bad_input_is_named(people, change, settings, message):
    for name, values in change.items():
        if np.ndim(values):
            column = people[name].astype(object if name == "household" else float).copy()
            column.iloc[: len(values)] = values
            people = people.assign(**{name: column})
        else:
            people = people.assign(**{name: values})
    with pytest.raises(ft.FairtransportError, match=message):
        audit(people, **settings)


def test_what_is_for_independent_people_is_refused(people):
    result = audit(people, clusters="household")
    with pytest.raises(ft.InputError, match="must be an audit of independent people"):
        result.as_pilot()
    with pytest.raises(ft.InputError, match="`share` is for independent people"):
        result.document(share=5)
    with pytest.raises(ft.InputError, match=r"Monitor\(\) got an unexpected parameter 'clusters'"):
        ft.Monitor(sensitive_features="sex", delta=0.1, clusters="household")


def audit_predictions(people, **settings):
    given = people.assign(said=answer(people))
    options = {"features": ["sex", "grade"], "sensitive_features": "sex", "delta": 0.0, "rng": 0}
    return ft.audit(given, "good", y_pred="said", **options | settings)


def compare_predictions(people, **settings):
    given = people.assign(said=answer(people), all=1)
    return ft.compare(given, "good", y_pred={"old": "said", "new": "all"}, rng=0,
                      features=["sex", "grade"], sensitive_features="sex", **settings)  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"clusters": "household"}, "`clusters` needs `largest` .* target='clusters'"),
        (
            {"sample_weight": "weight"},
            "`sample_weight` needs `largest` .* largest=8.$",
        ),
        (
            {"clusters": ft.Clusters("household", 5), "sample_weight": "weight"},
            "`sample_weight` needs `largest`",
        ),
    ],
)
def test_rates_of_people_need_a_declared_limit(people, settings, message):
    with pytest.raises(ft.InputError, match=message):
        audit_predictions(people, **settings)
    with pytest.raises(ft.InputError, match=message):
        compare_predictions(people, **settings)


@pytest.mark.parametrize(
    "settings",
    [
        {"clusters": ft.Clusters("household", largest=5)},
        {"clusters": ft.Clusters("household", target="clusters")},
        {"sample_weight": ft.Weights("weight", largest=8)},
    ],
)
def test_rates_bet_on_one_member_of_each_unit(people, settings):
    rows, units = audit_predictions(people), audit_predictions(people, **settings)
    law, count = units.law.together, units.summary.units.count
    assert law.units.n == count
    # pilots take 20 % or more of those who are drawn, and each unit is drawn once at most
    assert law.wealths.people.max() < count
    assert units.rates.lower_bound < rows.rates.lower_bound
    assert units.n == rows.n
    assert 0 < units.rates.pvalue <= 1
    assert units.summary.units.given == ""


def test_rates_of_people_who_are_declared_single_are_those_of_people(people):
    single = people.assign(one=np.arange(len(people)))
    units = audit_predictions(single, clusters=ft.Clusters("one", largest=1))
    rows = audit_predictions(people)
    assert units.law.together.plug_in == pytest.approx(rows.law.together.plug_in)
    assert units.lower_bound == pytest.approx(rows.lower_bound, abs=0.03)


def test_groups_have_intervals_of_units(people):
    known = ft.Clusters("household", largest=5)
    [rows], [units] = audit(people).group_metrics(), audit(people, clusters=known).group_metrics()
    for by_row, by_unit in zip(rows.rates[0].groups, units.rates[0].groups, strict=True):
        assert by_unit.rate == pytest.approx(by_row.rate)
        assert by_unit.lower <= by_unit.rate <= by_unit.upper
    wide, narrow = units.rates[0].groups[0], rows.rates[0].groups[0]
    assert wide.upper - wide.lower > narrow.upper - narrow.lower


def test_comparisons_and_families_take_units(people):
    known = ft.Clusters("household", largest=5)
    rows, units = compare(people), compare(people, clusters=known)
    open_sizes = compare(people, clusters="household")
    [by_row], [by_unit] = rows.summary.differences, units.summary.differences
    assert by_unit.upper - by_unit.lower > by_row.upper - by_row.lower
    assert units.summary.units.count == MANY
    assert open_sizes.summary.differences[0].lower is None
    assert any("the largest was not declared" in note for note in open_sizes.warnings)
    family = {"a": {"delta": 0.1}, "b": {"delta": 0.2}}
    features = ["sex", "grade"]
    audits = ft.audit_many(
        people,
        "good",
        audits=family,
        model=answer,
        features=features,
        clusters=known,
        rng=0,
        sensitive_features="sex",
    )
    assert {one.space.units.n for one in audits.values()} == {MANY}


def test_a_holdout_keeps_units_whole(people):
    from fairtransport.audits.run import _take_units

    space = audit(people, clusters="household").space
    half = (np.arange(MANY) % 2).astype(np.int64)
    part = _take_units(space, half)
    names = [f"h{one}" for one in range(MANY)]
    chosen = [name for at, name in enumerate(sorted(names)) if half[at]]
    assert part.n == people["household"].isin(chosen).sum()
    assert part.units.n == MANY // 2
    assert part.units.count_people(part.size).tolist() == part.counts.tolist()


def test_flags_say_what_parameters_say(people, tmp_path, capsys):
    from fairtransport.cli import main

    given = people.assign(said=answer(people)).drop(columns="weight")
    given.to_csv(tmp_path / "cases.csv", index=False)
    flags = ["--label", "good", "--prediction", "said", "--sensitive", "sex", "--deterministic"]
    design = ["--clusters", "household,largest=5", "--seed", "0", "--delta", "0.2"]
    place = tmp_path / "audit.json"
    main(["audit", str(tmp_path / "cases.csv"), *flags, *design, "--json", str(place)])
    document = json.loads(place.read_text("utf-8"))
    result = ft.audit(
        given, "good", y_pred="said", sensitive_features="sex", deterministic=True, delta=0.2,
        clusters=ft.Clusters("household", largest=5), rng=0,
    )  # fmt: skip
    assert document["units"]["limit"] == 5
    assert document["lower_bound"] == result.lower_bound
    assert "--clusters" not in capsys.readouterr().err
    assert main(["audit", str(tmp_path / "cases.csv"), *flags, "--clusters", "household,5"]) == 2
