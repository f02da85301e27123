"""Audits with counterparts: verdicts, bounds, decisions, families and documents."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, binom, norm

import fairtransport as ft
from fairtransport._core.notes import Figure
from fairtransport._core.units import Units
from fairtransport.audits.applicability import find_obstacle
from fairtransport.cli import main
from fairtransport.errors import FairtransportError
from fairtransport.report.sections.counterparts import told_sentences
from fairtransport.report.sections.finding import advised_settings, verdict_line


def draw(n=1500, seed=0, shift=13.0):
    rng = np.random.default_rng(seed)
    is_man = rng.random(n) < 0.5
    people = pd.DataFrame({"sex": np.where(is_man, "m", "f"), "grade": rng.normal(size=n)})
    people["height"] = 168 + shift * is_man + 6 * rng.normal(size=n)
    people["good"] = (people["grade"] + rng.normal(0, 0.7, n) > 0).astype(int)
    return people


PEOPLE = draw()
CALL = dict(sensitive_features="sex", features=["grade", "height"], delta=0.02, rng=0)


def by_height(asked):
    """Give to the tall among the able."""
    return ((asked["grade"] > 0) & (asked["height"] > 170)).astype(int)


def audit(model=by_height, people=PEOPLE, similarity="counterparts", **more):
    return ft.audit(people, "good", model=model, similarity=similarity, **(CALL | more))


@pytest.fixture(scope="module")
def result():
    return audit()


def test_a_blind_model_that_uses_a_proxy_is_rejected_by_the_next_audit():
    first = ft.audit(PEOPLE, "good", model=by_height, **CALL)
    assert first.verdict == "not-applicable"
    second = ft.audit(PEOPLE, "good", model=by_height, **CALL | first.next_audit)
    assert (second.verdict, second.target_scope) == ("rejected", "counterparts")
    assert second.n + second.similarity.model_.size == len(PEOPLE)


def test_a_pipeline_that_drops_the_sex_has_the_same_next_step():
    first = ft.audit(PEOPLE, "good", model=by_height, **CALL | {"features": None})
    assert first.verdict == "not-applicable"
    assert audit(features=None).verdict == "rejected"


def test_the_bound_is_that_of_the_formula(result):
    law = result.query_record.law
    count = round(result.statistic * result.n)
    exact = beta.ppf(0.025, count, result.n - count + 1)
    below = np.hypot(count / result.n - exact, norm.isf(0.025) * law.spread)
    assert law.spread > 0
    assert result.lower_bound == pytest.approx(count / result.n - below)
    assert (result.guarantee, result.pvalue, result.certificate_pvalue) == (
        "approximate",
        None,
        None,
    )
    assert (result.summary.upper_bound, result.summary.pvalue) == (None, None)
    assert (result.summary.interval.lower, result.summary.interval.upper) == (None, None)
    assert result.attributable.value == result.statistic
    assert result.attributable.verdict == result.verdict


def test_no_surface_tells_a_pvalue_of_the_statistic(result):
    line = verdict_line(result.summary)
    assert line.startswith("δ-fairness rejected at level 5 %: δ = 0.02, lower bound ")
    assert "p" not in line.partition("lower bound")[2]


def test_decisions_are_those_of_counterparts(result):
    space, answers = result.space, np.asarray(result.answers.predictions)
    person = {family: at for at, family in enumerate(space.families) if space.counts[at]}
    changed = sum(
        space.counts[person[family]]
        for at, family in enumerate(space.families)
        if not space.counts[at] and answers[at] != answers[person[family]]
    )
    assert result.decisions.changed.people == changed > 0
    assert "as the same person as typically recorded with another sex" in " ".join(
        str(result).split()
    )
    assert result.decisions.changed.scope == "these counterparts"
    assert {"height", "sex"} <= set(result.decisions.cases[0].changes)


def test_columns_that_say_nothing_give_no_verdict():
    people = draw(shift=0.0)
    closed = audit(people=people)
    assert closed.verdict == "not-applicable"
    assert closed.decisions is None
    assert "no column that alone predicts it better than guessing" in closed.applicability
    assert "no evidence of fairness" in closed.applicability
    assert "standard deviations (sex), equally for everybody, the test" in closed.applicability
    # also where the sex is received and not used
    assert audit(people=people, features=None).verdict == "not-applicable"


def test_advice_on_a_closed_gate_keeps_the_settings_in_use():
    people = PEOPLE.assign(noise=PEOPLE["grade"] ** 2)
    asked = {"people": people, "features": ["grade", "height", "noise"]}
    closed = audit(similarity=ft.similarity.Counterparts(legitimate=["height"]), **asked)
    (code,) = advised_settings(closed.headline, in_python=True)
    assert code == (
        "similarity=ft.similarity.Counterparts(['sex'], legitimate=['height'], fit_share=0.7, "
        "given={'column': ['other']})"
    )
    assert code in " ".join(str(closed).split())
    code = code.replace("column", "grade").replace("other", "noise")
    similarity = eval(code.partition("=")[2], {"ft": ft})  # noqa: S307
    again = audit(similarity=similarity.set_params(level=0.01), **asked)
    assert again.summary.counterparts.legitimate == ("height",)
    assert again.n < closed.n
    (code,) = advised_settings(again.headline, in_python=True)
    # the advice ends: with an even larger hold-out nobody would be left to audit
    assert code.endswith("level=0.01, fit_share=0.7, given={'grade': ['noise']})")
    assert "larger share" in closed.advice
    assert again.advice.startswith("These people cannot show more: report that this audit")


def test_a_proxy_that_is_not_used_is_neither_rejected_nor_certified():
    unused = audit(lambda asked: (asked["grade"] > 0).astype(int), delta=0.5)
    assert unused.verdict == "inconclusive"
    assert unused.lower_bound == 0


def test_a_sex_that_is_received_and_used_counts_with_a_closed_gate():
    def by_sex(asked):
        return ((asked["grade"] > 0) & (asked["sex"] == "m")).astype(int)

    people = draw(shift=0.0)
    assert audit(by_sex, people, features=None).verdict == "rejected"


def test_a_family_shares_the_level_of_its_gates():
    found = ft.audit_many(
        PEOPLE, "good", similarity="counterparts", alpha=0.05, **CALL,
        audits={"tall": {"model": by_height}, "able": {"model": lambda x: (x["grade"] > 0) * 1}},
    )  # fmt: skip
    assert {one.similarity.model_.level for one in found.values()} == {0.0125}
    assert found.verdicts == {"tall": "rejected", "able": "inconclusive"}
    assert [member.pvalue for member in found.members] == [None, None]


def test_counterparts_fitted_on_other_people_hold_out_nobody():
    similarity = ft.similarity.Counterparts(["sex"], features=["grade", "height"])
    result = audit(similarity=similarity.fit(draw(seed=1)))
    assert (result.n, result.verdict) == (len(PEOPLE), "rejected")
    with pytest.raises(FairtransportError, match="lacks 'height'"):
        audit(similarity=ft.similarity.Counterparts(["sex"]).fit(draw()[["sex", "grade"]]))


def test_several_features_and_groups():
    rng = np.random.default_rng(3)
    people = PEOPLE.assign(race=rng.choice(list("abc"), len(PEOPLE)))
    people["height"] += 8 * (people["race"] == "a")
    result = audit(people=people, sensitive_features=["sex", "race"])
    assert result.decisions.alternatives == 3
    assert {one.feature for one in result.decisions.by_feature} == {"sex", "race"}
    assert result.verdict == "rejected"


def test_documents_show_the_gate_and_no_people_if_shared(result, tmp_path):
    page = result.to_html(tmp_path / "report.html").read_text("utf-8")
    assert "Which columns depend on sex" in page
    assert len(result.summary.counterparts.pairs) == 10
    shared = result.document(share=5)
    assert shared.counterparts is None
    assert "People drawn at random" not in result.to_html(
        tmp_path / "shared.html", share=5
    ).read_text("utf-8")


def test_proxies_show_the_same_gate(result):
    (sex,) = result.proxies().proxy_list
    assert [column.name for column in sex.columns if column.depends] == ["height"]
    blind = ft.audit(draw(seed=2), "good", model=by_height, **CALL).proxies()
    assert [one.name for one in blind.proxy_list[0].columns if one.depends] == ["height"]
    assert "The column that depends most on sex is height." in blind.to_markdown()
    innocent = ft.audit(draw(shift=0.0), "good", model=by_height, **CALL).proxies()
    assert "No column was shown to depend on sex." in innocent.to_markdown()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(model=None, y_pred="good"), "`model` must be given"),
        (dict(budget=0.1), "`budget` must be 0"),
        (dict(levels={"sex": ["f", "m"]}), "`levels` must be left out"),
        (dict(queries=ft.Queries(draws=3)), "`queries.draws` must be 1"),
        (dict(similarity=ft.similarity.Counterparts(level=0.05)), "at most half of `alpha`"),
        (dict(similarity=ft.similarity.Counterparts(fit_share=0.999)), "`fit_share` must leave"),
        (dict(similarity=ft.similarity.Counterparts(["race"])), "must be those of the audit"),
        (dict(sensitive_features="flag"), "at least 20 people of each group"),
    ],
)
def test_what_counterparts_cannot_follow_is_refused(settings, message):
    people = PEOPLE.assign(flag=np.arange(len(PEOPLE)) < 10)
    with pytest.raises(FairtransportError, match=message):
        ft.audit(
            people, "good", **dict(model=by_height, similarity="counterparts") | CALL | settings
        )


def test_comparisons_refuse_them():
    with pytest.raises(FairtransportError, match="is for `audit` and `audit_many` alone"):
        ft.compare(PEOPLE, "good", models={"a": by_height, "b": by_height}, rng=0,
                   sensitive_features="sex", similarity="counterparts")  # fmt: skip


def write_audit(folder, people):
    """Write people and a model that decides by height; return the command that audits them."""
    import skops.io as skops
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_depth=3).fit(people[["grade", "height"]], by_height(people))
    skops.dump(tree, folder / "model.skops")
    people.to_csv(folder / "people.csv", index=False)
    return (
        f"audit {folder}/people.csv --label good --sensitive sex --model {folder}/model.skops "
        "--seed 0 --delta 0.02 --similarity counterparts"
    ).split()


def test_the_command_line_takes_them(tmp_path, capsys):
    line = write_audit(tmp_path, PEOPLE)

    assert main(line) == 3
    assert main([*line, "--similarity-settings.legitimate", "grade"]) == 3
    assert "typically recorded with another sex" in " ".join(capsys.readouterr().out.split())


def test_the_flags_that_are_advised_on_a_closed_gate_run(tmp_path, capsys):
    line = write_audit(tmp_path, draw(shift=0.0))

    assert main(line) == 5
    screen = " ".join(capsys.readouterr().out.split())
    flags = "--similarity-settings.fit_share 0.7 --similarity-settings.given.COLUMN OTHER"
    assert flags in screen
    written = flags.replace("COLUMN", "grade").replace("OTHER", "height").split()
    assert main([*line, *written]) == 5
    screen = " ".join(capsys.readouterr().out.split())
    assert "No column was shown to depend on sex" in screen


def test_a_classifier_that_tells_counterparts_is_noted():
    """The height opens the gate; that two columns go together by sex, no counterpart has."""
    rng = np.random.default_rng(0)
    first, noise = rng.normal(size=(2, len(PEOPLE)))
    sign = np.where(PEOPLE["sex"] == "m", 1, -1)
    people = PEOPLE.assign(first=first, second=sign * first + 0.3 * noise)
    names = ["height", "first", "second"]
    result = audit(lambda asked: (asked["height"] > 170) * 1, people, features=names)
    gate = result.similarity.gate_.set_index("column")["moves"]
    assert gate.to_dict() == {"height": True, "first": False, "second": False}
    (note,) = told_sentences(result.summary.counterparts)
    assert note.startswith("A classifier can still tell counterparts from people with sex")
    assert note.partition(" (balanced")[0] in result.to_markdown()
    assert "Name such columns with `given`." in result.to_markdown()
    # nothing is left to tell them by where the columns that shift are all there is
    (told,) = audit().summary.counterparts.told
    assert told.lower <= 0.5
    assert told_sentences(audit().summary.counterparts) == []
    # those that may rightly count stay, and so tell them apart by design
    chosen = ft.similarity.Counterparts(legitimate=["first"])
    among = audit(lambda asked: (asked["height"] > 170) * 1, people, chosen, features=names)
    assert among.similarity.model_.is_open("sex")
    assert told_sentences(among.summary.counterparts) == []


def test_equal_true_labels_do_not_stop_refitted_maps():
    # with this seed one of the refitted maps raises questions to which all answers are 0
    rng = np.random.default_rng(3)
    is_man = rng.choice([False, True], 400)
    height = (167 + 12 * is_man + rng.normal(0, 6, 400)).round()
    people = pd.DataFrame({"sex": np.where(is_man, "m", "f"), "height": height, "good": 1})
    result = audit(lambda asked: (asked["height"] > 186).astype(int), people,
                   features=["height"], delta=0.01, rng=3)  # fmt: skip
    assert result.verdict == "rejected"
    assert result.statistic > 0.05
    with pytest.raises(FairtransportError, match="must have the same values"):
        audit(lambda asked: np.zeros(len(asked), int), people, features=["height"])


def draw_homes(homes=200, seed=0, shift=13.0):
    """People of one to four a home, of one sex each, whose height is the home's."""
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(homes), rng.integers(1, 5, homes))
    is_man = (rng.random(homes) < 0.5)[home]
    people = pd.DataFrame({"home": home, "sex": np.where(is_man, "m", "f")})
    people["grade"] = rng.normal(size=homes)[home]
    people["height"] = 168 + shift * is_man + 6 * rng.normal(size=homes)[home]
    return people.assign(good=(people["grade"] > 0).astype(int))


@pytest.mark.parametrize(
    "clusters", ["home", ft.Clusters("home", largest=4), ft.Clusters("home", target="clusters")]
)
def test_whole_clusters_are_held_out_audited_and_resampled(clusters):
    people = draw_homes()
    result = audit(people=people, clusters=clusters)
    model, units = result.similarity.model_, result.space.units
    # a home in two parts would be counted twice
    assert len(np.unique(model.units)) + units.n == people["home"].nunique()
    assert model.size + result.n == len(people)
    assert units.count_people(result.space.size).tolist() == result.space.counts.tolist()
    assert result.statistic == pytest.approx(_mean_gain(result))
    assert (result.verdict, result.guarantee) == ("rejected", "approximate")
    assert 0 < result.lower_bound < audit(people=people).lower_bound
    if clusters == "home":
        assert "given these sizes" in result.to_markdown()


def _mean_gain(result):
    """Return the mean rise of the loss in a person's counterparts, by the weight of units."""
    losses, families = result.problem.losses, result.space.families
    largest = np.zeros(families.max() + 1)
    np.maximum.at(largest, families, losses)
    gains = result.space.units.means(largest[families] - losses)
    weights = result.space.units.counts * result.space.units.weights
    return weights @ gains / weights.sum()


def test_members_of_units_are_listed_and_placed_again():
    units = Units(
        np.array([2, 1]), np.array([3.0, 2.0]), np.array([0, 0, 1]), np.array([4, 1, 1]),
        np.array([2 / 3, 1 / 3, 1.0]), np.array([2, 1, 2]), limit=3.0, is_single=False,
    )  # fmt: skip
    points, members = units.list_members()
    assert members.tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert points.tolist() == [4, 4, 1, 4, 4, 1, 1, 1]
    again = units.place_members(points)
    assert again.frequencies(5).tolist() == pytest.approx(units.frequencies(5).tolist())
    assert again.count_people(5).tolist() == units.count_people(5).tolist()
    assert (again.n, again.weights.tolist(), again.limit) == (3, [3, 3, 2], 3)


def by_both(asked):
    """Give to the able among the tall."""
    return ((asked["grade"] > 0.3) & (asked["height"] > 165)).astype(int)


def test_rows_of_clusters_would_accuse_an_innocent_model():
    people = draw_homes(homes=150, seed=1033, shift=0.0)
    assert audit(by_both, people.drop(columns="home")).verdict == "rejected"
    assert audit(by_both, people, clusters="home").verdict == "not-applicable"


@pytest.mark.slow
def test_an_innocent_model_of_clusters_is_rarely_accused():
    samples, opened = 100, np.zeros(2)
    for seed in range(samples):
        people = draw_homes(homes=150, seed=1000 + seed, shift=0.0)
        tables = {None: people.drop(columns="home"), ft.Clusters("home", largest=4): people}
        for at, (clusters, table) in enumerate(tables.items()):
            result = audit(by_both, table, clusters=clusters, rng=seed, delta=0.0)
            opened[at] += result.verdict != "not-applicable"
    assert opened[1] <= binom.isf(1e-3, samples, 0.025) < opened[0]


def test_people_of_a_fit_who_are_audited_too_are_named():
    people, others = draw(seed=31), draw(seed=32)
    columns = ["sex", "height", "grade"]
    own = ft.similarity.Counterparts(["sex"]).fit(people[columns])
    foreign = ft.similarity.Counterparts(["sex"]).fit(others[columns])

    warned = audit(people=people, similarity=own).headline.warnings
    assert any("seem to be fitted on people who are also audited" in note for note in warned)
    assert any(f"{len(people)} people were given to find which" in note for note in warned)
    plain = audit(people=people, similarity=foreign).headline.warnings
    assert not any("seem to be fitted" in note for note in plain)
    assert any("were held out" in note for note in audit(people=people).headline.warnings)


def test_the_first_screen_names_the_columns_that_changed():
    text = " ".join(str(audit()).split())
    assert "Changed in counterparts: height. Not changed" in text
    assert "Changed in counterparts: height" in audit().to_markdown()


def test_the_shifts_of_a_closed_gate_stay_values_that_documents_can_round():
    people = draw(shift=0.0).assign(race=lambda one: np.where(one["grade"].rank() % 2, "a", "b"))
    people["race"] = np.random.default_rng(4).permutation(people["race"])
    closed = audit(people=people, sensitive_features=["sex", "race"])
    values = []
    reason = find_obstacle(closed).reason
    reason.render(lambda value, form: values.append(value) or format(value, form))

    assert closed.verdict == "not-applicable"
    assert sum(isinstance(value, Figure) for value in values) == 2
