"""Verdict traps: situations in which an audit would accuse or acquit by mistake, each with an
innocent control."""

import json

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.cli import main

CALL = dict(sensitive_features="sex", delta=0.05, rng=0)
INDEPENDENT = "Bounds are too narrow if rows are not independent people."


def draw(n=400, seed=11):
    """People with a sex, a continuous and a categorical column."""
    rng = np.random.default_rng(seed)
    people = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "income": rng.normal(30, 8, n).round(3),
            "job": rng.choice(["nurse", "driver", "clerk"], n),
        }
    )
    good = people["income"] + rng.normal(0, 6, n) > 30
    return people.assign(good=good.astype(int))


PEOPLE = draw()


def blind(points):
    """Answer by income alone, though the sex is received."""
    return (points["income"] > 31).astype(int)


def nearly_blind(points):
    """Ask more of few women: of those whose income is near the threshold."""
    return (points["income"] > 31 + 0.4 * (points["sex"] == "f")).astype(int)


def audit(model=nearly_blind, people=PEOPLE, **settings):
    return ft.audit(people, "good", model=model, **(CALL | settings))


def notes_with(result, words):
    return [note for note in result.headline.warnings if words in note]


# blind inside: a pipeline that drops the sensitive column


def pipeline(columns):
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    rest = [name for name in columns if name != "income"]
    chosen = make_column_transformer((StandardScaler(), ["income"]), (OneHotEncoder(), rest))
    train = draw(800, seed=12)
    features = train[["sex", "income", "job"]]
    return make_pipeline(chosen, LogisticRegression()).fit(features, train["good"])


@pytest.mark.parametrize("loss", ["zero-one", "brier"])
def test_a_pipeline_that_drops_the_sensitive_column_is_not_certified(loss):
    result = audit(pipeline(["income", "job"]), loss=loss)

    assert result.bounds_verdict == "certified"
    assert result.verdict == result.summary.verdict == "not-applicable"
    assert result.applicability == (
        "The model gives every person the same answer with any other sex: it does not use this "
        "column, or not for these people. This is no evidence of fairness: other columns may stand "
        "in for it (proxies)."
    )
    assert result.document(share=5).applicability == result.applicability


def test_a_score_that_differs_is_an_answer_that_differs():
    """Labels need not differ where scores do, and the answers that there are count."""
    train = draw(800, seed=12)
    from sklearn.linear_model import LogisticRegression

    features = pd.DataFrame({"male": (train["sex"] == "m") * 1.0, "income": train["income"]})
    model = LogisticRegression().fit(features, train["good"])
    far = PEOPLE[(PEOPLE["income"] - 31).abs() > 8].assign(male=lambda f: (f["sex"] == "m") * 1.0)
    call = dict(features=["male", "income"], sensitive_features="male", delta=0.3, rng=0)

    assert ft.audit(far, "good", model=model, **call).verdict == "not-applicable"
    scores = ft.audit(far, "good", model=model, loss="brier", **call)
    assert scores.statistic > 0
    assert scores.verdict == "certified"


def test_one_answer_that_differs_is_enough():
    result = audit()

    assert result.verdict == result.bounds_verdict == "certified"
    assert 0 < result.statistic < 0.05
    assert result.applicability is None


def test_of_a_model_that_is_blind_for_both_features_both_are_named():
    result = audit(blind, sensitive_features=["sex", "job"])

    assert result.applicability.startswith(
        "The model gives every person the same answer with any other sex or job: it does not use "
        "these columns, or not for these people."
    )
    one_is_used = audit(sensitive_features=["sex", "job"])
    assert one_is_used.applicability is None


def test_with_a_budget_it_is_a_note_as_others_than_twins_count():
    like = ft.similarity.MixedTabular(scales={"income": 8}, exact=["job"])
    words = "the whole statistic comes from differences in other columns"
    near = audit(blind, similarity=like, budget=0.05)
    free = audit(blind, similarity=like, budget=0.0)
    control = audit(similarity=like, budget=0.05)

    assert near.statistic > 0
    assert near.applicability is None
    assert len(notes_with(near, words)) == 1
    assert free.verdict == "not-applicable"
    assert notes_with(control, words) == []


def test_random_answers_are_not_compared_with_each_other():
    rng = np.random.default_rng(0)

    def tosses(points):
        return (rng.random(len(points)) < 0.01).astype(int)

    people = PEOPLE.assign(income=PEOPLE["income"].round(-1))
    result = audit(tosses, people, queries=ft.Queries(draws=2))

    assert result.query_record.draws == 2
    assert result.applicability is None


def test_asking_that_stops_at_a_certificate_is_told_it_too_and_the_advice_works():
    people = draw(3000)
    call = dict(people=people, levels={"sex": ["f", "m"]})
    stopped = audit(blind, queries=ft.Queries(until_sure=True), **call)
    control = audit(
        lambda points: (points["income"] > 31 + (points["sex"] == "f")).astype(int),
        queries=ft.Queries(until_sure=True), **call,
    )  # fmt: skip

    assert stopped.query_record.stopped == control.query_record.stopped == "certified"
    assert stopped.verdict == "not-applicable"
    assert stopped.advice == "Query everybody: leave out `queries.until_sure`."
    assert audit(blind, **call).advice.startswith("Check the other columns")
    assert control.verdict == "certified"


def test_a_comparison_goes_by_the_bounds_and_says_it():
    def biased(points):
        return (points["income"] > 31 + 6 * (points["sex"] == "f")).astype(int)

    words = "new: The model gives every person the same answer"
    found = ft.compare(
        PEOPLE, "good", models={"old": biased, "new": blind}, sensitive_features="sex", rng=0
    )
    control = ft.compare(
        PEOPLE, "good", models={"old": biased, "new": nearly_blind}, sensitive_features="sex", rng=0
    )

    assert found.verdict == control.verdict == "better"
    assert any(note.startswith(words) for note in found.warnings)
    assert not any(words in note for note in control.warnings)


def test_the_command_line_exits_with_5(tmp_path, capsys):
    path, model = tmp_path / "people.csv", tmp_path / "model.joblib"
    PEOPLE.to_csv(path, index=False)
    import joblib

    joblib.dump(pipeline(["income"]), model)
    line = ["audit", str(path), "--label", "good", "--model", str(model), "--sensitive", "sex"]
    document = tmp_path / "audit.json"
    more = ["--allow-pickle", "--delta", "0.05", "--json", str(document), "--fail-on", "rejected"]

    assert main([*line, *more]) == 5, capsys.readouterr()
    assert json.loads(document.read_text("utf-8"))["verdict"] == "not-applicable"


# a threshold that nothing could exceed


@pytest.mark.parametrize(
    ("settings", "limit"),
    [({}, None), ({"loss": "brier"}, None), ({"loss": "absolute", "loss_range": (0, 4)}, None)],
)
def test_a_threshold_that_no_model_could_exceed_gives_no_certificate(settings, limit):
    from sklearn.linear_model import LogisticRegression

    people = PEOPLE.assign(male=(PEOPLE["sex"] == "m") * 1.0)
    features = ["male", "income"]
    model = LogisticRegression().fit(people[features], 1 - people["good"])
    call = dict(model=model, features=features, sensitive_features="male", rng=0) | settings
    risk = ft.audit(people, "good", **call).baseline_risk
    # by hand: from the loss that people have, to the largest that there can be
    limit = {"absolute": 4.0}.get(settings.get("loss"), 1.0) - risk
    beyond = ft.audit(people, "good", delta=limit + 1e-6, **call)
    within = ft.audit(people, "good", delta=limit - 1e-6, **call)

    assert beyond.verdict == "not-applicable"
    assert beyond.applicability.startswith(
        f"No model could be over the limit δ = {limit + 1e-6:g} with these"
    )
    assert f"can rise by at most {limit:.4g}" in beyond.applicability
    assert beyond.advice.startswith("Set a smaller limit (`delta`).")
    assert within.verdict == "certified"
    assert ft.audit(people, "good", delta=limit / 2, **call).applicability is None


def test_where_nothing_is_settled_a_threshold_beyond_reach_is_a_warning():
    def often_wrong(points):
        return 1 - nearly_blind(points)

    few, control = (audit(often_wrong, PEOPLE[:4], delta=delta) for delta in (0.5, 0.02))

    assert few.bounds_verdict == control.bounds_verdict == "inconclusive"
    assert few.warnings[0].startswith("No model could be over the limit δ = 0.5 with these people")
    assert notes_with(control, "No model could be over") == []


# predictions identical to labels, one group, an ID


@pytest.mark.parametrize("given", [True, False])
def test_predictions_that_equal_the_labels_are_named(given):
    people = PEOPLE.assign(good=nearly_blind(PEOPLE))
    words = "All 400 predictions equal the true labels. Check whether a feature reveals the labels"
    answers = {"y_pred": people["good"].to_numpy(copy=True)} if given else {"model": nearly_blind}
    exact = ft.audit(people, "good", **answers, **CALL)
    people.loc[0, "good"] = 1 - people.loc[0, "good"]
    control = ft.audit(people, "good", **answers, **CALL)

    assert exact.warnings[0].startswith(words)
    assert notes_with(control, "predictions equal") == []


def test_where_everybody_is_of_one_group_the_group_is_named_and_the_advice_works():
    women = PEOPLE[PEOPLE["sex"] == "f"]
    asked = audit(people=women)
    given = ft.audit(women, "good", y_pred=blind(women).to_numpy(), **CALL)

    for result in (asked, given):
        assert result.verdict == "not-applicable"
        assert result.applicability.startswith("Everybody is in the same group (sex 'f')")
    named = "name the values that sex can have, as in `levels={'sex': ['f', 'OTHER']}`"
    assert f"Or give the model (`model`) and {named}" in given.advice
    assert f"Or {named}" in asked.advice
    followed = audit(people=women, levels={"sex": ["f", "m"]})
    assert followed.applicability is None
    assert audit().applicability is None


@pytest.mark.parametrize(
    "values",
    [
        [f"{at:05x}-x" for at in range(400)],
        np.arange(1000, 1400),
        np.random.default_rng(0).permutation(10**6)[:400],
    ],
)
def test_an_id_among_the_features_is_named_and_the_advice_works(values):
    people = PEOPLE.assign(person_id=values)
    result = audit(people=people)

    assert result.warnings[0].startswith(
        "The column person_id has a different value for each person, as an ID has"
    )
    followed = audit(people=people, features=["sex", "income", "job"])
    assert notes_with(followed, "as an ID has") == []


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(1).permutation(10**6)[:400],
        np.random.default_rng(1).normal(size=400),
        pd.date_range("2021-03-01", periods=400).strftime("%Y-%m-%d"),
        [f"works as a nurse since {at} days" for at in range(400)],
    ],
)
def test_other_columns_of_distinct_values_are_no_ids(values):
    assert notes_with(audit(people=PEOPLE.assign(wealth=values)), "as an ID has") == []


# rows that are not independent people


def with_weights(seed=5):
    rng = np.random.default_rng(seed)
    return PEOPLE.assign(weight=rng.lognormal(7, 0.6, len(PEOPLE)).round().astype(int) + 2)


@pytest.mark.parametrize("repeats", [False, True])
def test_counts_that_are_survey_weights_are_named_and_the_advice_works(repeats):
    people = with_weights()
    if repeats:  # with few columns, many rows are of one kind
        people = people.drop(columns="income")
    call = dict(model=lambda points: (points["job"] == "clerk").astype(int), **CALL)
    result = ft.audit(people, "good", counts="weight", **call)
    first = result.warnings[0]

    assert first.startswith(
        "The counts in weight look like survey weights: each of 400 rows stands"
    )
    assert f"{people['weight'].sum()} in all. With weights as counts, bounds are too" in first
    assert "`sample_weight='weight'`, without `counts`" in first
    assert any(
        note.startswith("The counts in weight look like survey")
        for note in result.document(share=5).warnings
    )
    features = [name for name in people if name not in {"good", "weight"}]
    followed = ft.audit(people, "good", features=features, **call)
    assert followed.n == 400
    assert notes_with(followed, INDEPENDENT) == []


OWN = {
    "person_id": np.arange(5000, 5400),
    "postcode": np.random.default_rng(1).permutation(90_000)[:400],
    "wage": np.random.default_rng(2).normal(30_000, 9_000, 400).round(),
}


@pytest.mark.parametrize("names", [[], ["person_id"], ["postcode", "wage"], [*OWN]])
def test_columns_that_are_not_audited_hide_no_weights(names):
    rng = np.random.default_rng(3)
    people = with_weights().assign(
        years=rng.integers(0, 15, 400), **{one: OWN[one] for one in names}
    )
    result = audit(people=people, model=lambda x: (x["job"] == "clerk") * 1, counts="weight",
                   features=["sex", "job", "years"])  # fmt: skip

    assert len(notes_with(result, "look like survey weights")) == 1


@pytest.mark.parametrize(
    "extra",
    [
        lambda table: {"row": np.arange(len(table))},
        lambda table: {"mean_wage": np.random.default_rng(0).normal(30, 9, len(table))},
        lambda table: {"share": np.random.default_rng(0).normal(0.5, 0.1, len(table)).round(2)},
        lambda table: {"hits": np.random.default_rng(0).binomial(table["count"], 0.3)},
        lambda table: {"x_name": "x" + table["x"], "z_code": table["z"].map(ord)},
    ],
)
def test_figures_of_each_kind_make_no_weights_of_counts(extra):
    table = counted(200_000)
    assert table["count"].min() > 30
    table = table.assign(**extra(table))
    for features in (["sex", "x", "z"], ["sex", "x"]):
        result = audit(people=table, model=lambda x: (x["x"] == "a") * 1, counts="count",
                       features=features)  # fmt: skip
        assert notes_with(result, INDEPENDENT) == []


def counted(n, least=1, seed=3):
    """A table of counts: of each kind of people one row."""
    rng = np.random.default_rng(seed)
    people = pd.DataFrame(
        {name: rng.choice(list("abcd"), n, p=[0.4, 0.3, 0.2, 0.1]) for name in ("sex", "x", "z")}
    ).assign(good=rng.integers(0, 2, n))
    table = people.groupby([*people]).size().rename("count").reset_index()
    return table[table["count"] >= least]


@pytest.mark.parametrize(("n", "least"), [(500, 1), (20_000, 1), (20_000, 10)])
def test_tables_of_counts_are_not_taken_for_weights(n, least):
    table = counted(n, least)
    result = ft.audit(table, "good", counts="count", model=lambda x: (x["x"] == "a") * 1, **CALL)
    fewer = ft.audit(
        table, "good", counts="count", model=lambda x: (x["x"] == "a") * 1, features=["sex", "x"],
        **CALL,
    )  # fmt: skip

    assert notes_with(result, INDEPENDENT) == notes_with(fewer, INDEPENDENT) == []


@pytest.mark.parametrize("copies", [2, 3])
def test_repeated_rows_are_named_and_the_advice_works(copies):
    people = pd.concat([PEOPLE] * copies + [draw(60, seed=13)], ignore_index=True)
    result = audit(people=people)

    assert result.warnings[0].startswith(
        f"{people.duplicated().sum()} of {len(people)} rows repeat another row in every column"
    )
    assert INDEPENDENT in result.warnings[0]
    assert notes_with(audit(people=people.drop_duplicates()), INDEPENDENT) == []


def test_categories_that_are_all_there_twice_are_repeated_rows():
    categories = draw(300, seed=14).assign(income=lambda f: f["income"].round(-1))
    more = categories.assign(site=np.random.default_rng(2).choice(list("abcdef"), 300))
    doubled = audit(people=pd.concat([more, more]))

    assert len(notes_with(doubled, "repeat another row in every column")) == 1
    assert notes_with(audit(people=more), INDEPENDENT) == []


@pytest.mark.parametrize("audited", [True, False])
def test_a_column_of_repeated_units_is_named_and_the_advice_works(audited):
    rng = np.random.default_rng(4)
    visits = draw(120, seed=15).assign(patient_id=rng.permutation(9000)[:120])
    visits = visits.loc[visits.index.repeat(rng.integers(2, 6, 120))].reset_index(drop=True)
    visits["income"] += rng.normal(0, 1, len(visits)).round(3)
    features = ["sex", "income", "job", *(["patient_id"] if audited else [])]
    result = audit(people=visits, features=features)
    (note,) = notes_with(result, INDEPENDENT)

    assert note.startswith(f"The column patient_id has 120 values for {len(visits)} rows, and")
    assert "have the same sex, like several rows of one person" in note
    followed = audit(people=visits.drop_duplicates("patient_id"), features=features)
    assert notes_with(followed, INDEPENDENT) == []


EVEN = "more even than chance allows for independent people"


@pytest.mark.parametrize("counts", [None, "count"])
def test_even_counts_are_named(counts):
    table = pd.DataFrame({"sex": ["f", "m"] * 8, "job": np.arange(16) // 2, "good": 1})
    rng, jobs = np.random.default_rng(0), ["sex", "job"]
    for even, number in (
        (True, np.full(16, 20)),
        (False, rng.multinomial(320, np.full(16, 1 / 16))),
    ):
        people = table.assign(count=number)
        if counts is None:
            people = table.loc[table.index.repeat(number)]
        result = audit(lambda asked: asked["job"] > 2, people, features=jobs, counts=counts)
        assert len(notes_with(result, EVEN)) == even
    assert "Each of the 16 different rows stands for 20 to 20 people" in str(
        audit(lambda asked: asked["job"] > 2, table.assign(count=20), features=jobs,
              counts="count").warnings
    )  # fmt: skip


def households(rng, spread):
    """Return 80 households of 1 to 7 whose members are alike as far as ``spread`` says."""
    unit = np.repeat(np.arange(80), rng.integers(1, 8, 80))
    own, home = rng.normal(0, 1, len(unit)), rng.normal(0, spread, 80)
    return pd.DataFrame({
        "sex": rng.choice(["f", "m"], len(unit)), "grade": np.round(own + home[unit]),
        "home": [f"h{one}" for one in unit], "noise": rng.integers(0, 40, len(unit)), "good": 1,
    })  # fmt: skip


def by_grade(asked):
    return ((asked["grade"] > 0) | (asked["sex"] == "m")).astype(int)


@pytest.mark.parametrize("kind", ["frame", "file"])
def test_a_column_whose_people_are_alike_is_named_and_the_advice_works(kind, tmp_path):
    people = households(np.random.default_rng(1), 2.0)
    if kind == "file":
        people.to_csv(tmp_path / "people.csv", index=False)
        people = tmp_path / "people.csv"
    result = audit(by_grade, people, features=["sex", "grade"])
    [note] = notes_with(result, "more equal among people with the same home than chance explains")
    assert "`clusters='home'`" in note
    advised = audit(by_grade, people, features=["sex", "grade"], clusters="home")
    assert advised.upper_bound > result.upper_bound
    assert not notes_with(advised, "than chance explains")


def test_columns_that_say_nothing_of_the_gains_are_no_units():
    results = [
        audit(by_grade, households(np.random.default_rng(seed), 0.0), features=["sex", "grade"])
        for seed in range(10)
    ]
    assert not any(notes_with(result, "than chance explains") for result in results)


def test_columns_that_determine_a_group_are_no_units():
    """An age determines the age group, and a first name the sex."""
    rng = np.random.default_rng(6)
    age, name = rng.integers(18, 80, 400), rng.integers(0, 60, 400)
    people = PEOPLE.assign(
        age=age, sex=np.where(age > 45, "f", "m"), site_id=rng.integers(0, 50, 400)
    )
    named = PEOPLE.assign(
        first_name=[f"name {at}" for at in name], sex=np.where(name % 7, "f", "m")
    )

    assert notes_with(audit(people=people), INDEPENDENT) == []
    assert notes_with(audit(people=named), INDEPENDENT) == []


@pytest.mark.parametrize("load", [ft.datasets.load_compas, ft.datasets.load_adult])
def test_known_data_raise_no_alarm(load):
    table = load()
    label = "two_year_recid" if "two_year_recid" in table else "over_50k"
    rows = table.loc[table.index.repeat(table["count"])].drop(columns="count")
    call = dict(sensitive_features=["sex", "race"], rng=0)
    for people, counts in ((table, "count"), (rows, None)):
        given = (people[label].to_numpy() + np.arange(len(people)) % 2) % 2
        features = [name for name in people if name not in {label, "count"}]
        for audited in (features, ["sex", "race"]):
            result = ft.audit(people, label, y_pred=given, counts=counts, features=audited, **call)
            assert notes_with(result, "look like survey weights") == []
            if audited == features:
                assert notes_with(result, INDEPENDENT) == notes_with(result, "as an ID has") == []


# many levels, and levels that nobody declared


def with_noise(levels, n=2000, seed=8):
    """A column of noise that the model uses a little, and a person's answer is near a border."""
    rng = np.random.default_rng(seed)
    people = draw(n, seed).assign(sex=rng.integers(0, levels, n))
    effect = rng.normal(0, 0.3, levels)

    def model(points):
        return (points["income"] > 31 + effect[points["sex"]]).astype(int)

    return audit(model, people)


def test_the_number_of_alternatives_is_told_beside_the_random_swap():
    many, few = with_noise(20), with_noise(2)
    (note,) = notes_with(many, "copies")

    assert many.statistic > 1.5 * few.statistic
    assert note.startswith("Each person is compared with 19 copies, and the worst counts")
    change = many.random_swap_risk - many.baseline_risk
    assert "If one group were drawn at random instead, in proportion to its size" in note
    assert f"the mean loss would change by {change:.4f}" in note
    assert abs(change) < many.statistic / 2
    assert notes_with(few, "the worst counts") == []
    both = audit(sensitive_features=["sex", "job"])
    assert notes_with(both, "Each person is compared with 5 copies")
    unused = audit(blind, sensitive_features=["sex", "job"])
    assert notes_with(unused, "the worst counts") == []  # the worst of many is 0 too


def test_a_certificate_says_which_levels_it_covers():
    rare = PEOPLE.assign(sex=["x"] * 2 + [*PEOPLE["sex"][2:]])
    (note,) = notes_with(audit(people=rare), "The verdict covers")
    (plain,) = notes_with(audit(), "The verdict covers")
    (shared,) = [
        one for one in audit(people=rare).document(5).warnings if "The verdict covers" in one
    ]

    assert "(sex: f, m, x), and no others" in note
    # (1 - p)^400 = 0.05
    assert "a value that 0.75 % of people have is absent from 400 people" in note
    assert pytest.approx(0.05, abs=0.002) == (1 - 0.0075) ** 400
    assert "Few people have sex x (2): where values are so rare, others may be missing." in note
    assert "Few people" not in plain
    # who is one of two is named to nobody
    assert " x" not in shared
    assert "Few people" not in shared
    declared = audit(levels={"sex": ["f", "m"]})
    assert notes_with(declared, "The verdict covers") == []


# a feature that the model does not receive, beside one that it does


def draw_of_two(n=600, seed=21):
    rng = np.random.default_rng(seed)
    people = draw(n, seed).assign(origin=rng.choice(["a", "b", "c"], n))
    flags = {f"from_{one}": (people["origin"] == one).astype(int) for one in "abc"}
    return people.assign(**flags)


BOTH = draw_of_two()


def by_sex(points):
    return (points["income"] > 31 + 2 * (points["sex"] == "f")).astype(int)


def by_origin(points):
    return (points["income"] > 31 + 2 * points["from_a"]).astype(int)


def test_a_feature_that_the_model_does_not_receive_is_no_part_of_what_is_said():
    settings = {"sensitive_features": ["sex", "origin"], "rng": 0, "favourable": 1}
    features = ["sex", "income", "job"]
    half = ft.audit(BOTH, "good", model=by_sex, features=features, delta=0.3, **settings)
    whole = ft.audit(BOTH, "good", model=by_sex, features=[*features, "origin"], delta=0.3,
                     **settings)  # fmt: skip
    alone = ft.audit(BOTH, "good", model=by_sex, features=features, delta=0.3,
                     **(settings | {"sensitive_features": "origin"}))  # fmt: skip

    (note,) = notes_with(half, "does not receive origin")
    assert "says nothing about origin, nor about other columns that stand in for it" in note
    assert "Audit origin alone" in note
    assert [one.feature for one in half.decisions.by_feature] == ["sex"]
    assert "if only their recorded sex were different." in str(half.decisions)
    assert notes_with(whole, "does not receive") == []
    assert "if only their recorded sex or origin were different." in str(whole.decisions)
    # the advice leads to the audit of proxies
    assert alone.verdict == "not-applicable"
    assert alone.next_audit["similarity"].sensitive_features == ["origin"]


def test_columns_that_stand_for_a_feature_are_named_and_the_advice_works():
    flags = ["from_a", "from_b", "from_c"]
    settings = {"model": by_origin, "rng": 0, "delta": 0.01, "favourable": 1}
    features = ["sex", "income", *flags]
    alone = ft.audit(BOTH, "good", features=features, sensitive_features="origin", **settings)
    both = ft.audit(BOTH, "good", features=features, sensitive_features=["sex", "origin"],
                    **settings)  # fmt: skip
    followed = ft.audit(BOTH, "good", features=features, sensitive_features=flags, **settings)

    assert alone.verdict == "not-applicable"
    assert "It receives from_a, from_b and from_c, which together have the same information" in (
        alone.applicability
    )
    assert "Name from_a, from_b and from_c as sensitive instead of origin" in alone.advice
    assert "`sensitive_features=['from_a', 'from_b', 'from_c']`" in alone.advice
    assert alone.next_audit is None
    assert notes_with(both, "Name from_a, from_b and from_c instead of origin")
    assert followed.verdict == "rejected"
    near = (BOTH["income"] > 31) & (BOTH["income"] <= 33)
    assert followed.decisions.worse_off.people == (near & (BOTH["origin"] == "a")).sum() > 10
    # a column that tells a part of the groups does not stand for the feature
    part = ft.audit(BOTH, "good", model=by_origin, features=["income", "from_a"],
                    sensitive_features="origin", rng=0)  # fmt: skip
    assert "It receives" not in part.applicability
    assert part.next_audit is not None
    # many people tell it, however few different rows they make
    few = BOTH.assign(income=BOTH["income"] > 31)
    coarse = ft.audit(few, "good", model=lambda one: one["from_a"], features=["income", *flags],
                      sensitive_features="origin", rng=0)  # fmt: skip
    assert coarse.space.observed.sum() < 24
    assert "It receives from_a, from_b and from_c" in coarse.applicability
    # income is no function of the origin, nor is a column of as many values as people
    blind_one = ft.audit(BOTH, "good", model=blind, features=["income", "job"],
                         sensitive_features="origin", rng=0)  # fmt: skip
    assert "It receives" not in blind_one.applicability


# decisions on record


def decided(n=600, seed=22):
    people = draw(n, seed).drop(columns="good").assign(income=lambda one: one["income"].round(-1))
    yes = (people["income"] > 25) & (np.arange(n) % 4 > 0)
    return people.assign(decision=np.where(yes, "yes", "no"))


def audit_decisions(people, **settings):
    settings = {"favourable": "yes", "sensitive_features": "sex", "rng": 0} | settings
    return ft.audit(people, y_pred="decision", **settings)


def test_a_column_that_gives_the_decision_away_is_named_and_the_advice_works():
    people = decided()
    reason = np.where(people["decision"] == "no", "too little income", "none")
    leaking = audit_decisions(people.assign(reason=reason))
    followed = audit_decisions(people.assign(reason=reason), features=["income", "job"])

    assert notes_with(leaking, "The column reason reveals the decision")
    assert "reveals the decision" not in " ".join(leaking.document(5).warnings)
    assert notes_with(followed, "reveals the decision") == []
    assert notes_with(audit_decisions(people), "reveals the decision") == []
    # values of their own agree with themselves
    own = people.assign(number=np.arange(len(people)) * 1.7)
    assert notes_with(audit_decisions(own), "The column number reveals") == []


def test_what_counts_as_unfavourable_is_listed():
    people = decided()
    some = people.assign(decision=people["decision"].where(people.index % 9 > 0, "withdrawn"))

    (note,) = notes_with(audit_decisions(some), "counts as unfavourable")
    shared = " ".join(audit_decisions(some).document(5).warnings)
    assert "withdrawn" not in shared  # few may have a decision, and notes are shared too
    assert "Every decision other than 'yes' counts as unfavourable: 'no', 'withdrawn'." in note
    assert notes_with(audit_decisions(people), "counts as unfavourable") == []


@pytest.mark.parametrize("spelling", ["yes ", "Yes", " yes"])
def test_labels_that_are_spelled_in_two_ways_are_refused(spelling):
    people = decided()
    people.loc[people.index % 5 == 0, "decision"] = spelling

    words = f"must spell each word in one way, got {min('yes', spelling)!r} and "
    with pytest.raises(ft.DataError) as caught:
        audit_decisions(people)
    assert words in str(caught.value)


def test_groups_that_are_spelled_in_two_ways_are_named():
    people = decided()
    two = people.assign(sex=people["sex"].where(people.index % 3 > 0, people["sex"].str.upper()))

    (note,) = notes_with(audit_decisions(two), "spaces or capital letters")
    assert "The column sex has the groups 'F' and 'f'" in note
    assert notes_with(audit_decisions(people), "spaces or capital letters") == []


@pytest.mark.parametrize("model", [None, nearly_blind])
def test_an_id_is_no_sensitive_feature(model):
    people = PEOPLE.assign(person=[f"p{at}" for at in range(400)], said=blind(PEOPLE))
    answers = {"y_pred": "said"} if model is None else {"model": model}
    words = "must name columns that put people into groups, got 'person', which has a different"
    with pytest.raises(ft.InputError, match=words):
        ft.audit(people, "good", sensitive_features="person", features=["sex", "income"], **answers)


def test_where_a_larger_sample_would_settle_nothing_none_is_advised():
    """Nothing is certified from decisions: with less than the limit, no number of people helps."""
    from fairtransport.report.sections.decisions import next_steps

    document = audit_decisions(decided(), delta=0.2).document()
    low = audit_decisions(decided(), delta=0.0).document()

    assert document.verdict == low.verdict == "inconclusive"
    assert document.rates.value <= 0.2
    assert not any("larger sample" in step for step in next_steps(document))


def test_reports_of_decisions_alone_show_no_swaps_and_speak_of_no_training(tmp_path):
    people = decided()
    unfair = people.assign(
        decision=people["decision"].where((people["sex"] == "m") | (people.index % 2 > 0), "no")
    )
    result = audit_decisions(unfair, delta=0.02)

    assert result.verdict == "rejected"
    result.to_html(tmp_path / "report.html")
    for one in (result.to_markdown(), (tmp_path / "report.html").read_text()):
        assert "is swapped with whom" not in one
        assert "used to train" not in one
        assert "Check first whether something that was not compared" in one
    assert "used to train" in audit().to_markdown()
