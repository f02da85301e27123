"""Flows: the paper's Figure 2, counted a second time, and the limits of its cells."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from tests.explain.audits import compas_audit, priced_audit, random_people

import fairtransport as ft
from fairtransport.errors import InputError
from fairtransport.inference.multiplicity import holm


@pytest.mark.parametrize("feature", ["age_cat", "priors", "charge"])
def test_flows_are_the_counts_after_transport_minus_the_counts_before(feature):
    result = compas_audit()
    flows = result.flows(feature)
    keys = ["two_year_recid", feature, "race", "sex"]
    points = result.space.frame(keys).astype(object)
    after = np.asarray(result.plan.sum(axis=0)).ravel() * result.n
    change = points.assign(change=after - result.space.counts).groupby(keys)["change"].sum()

    wanted = flows.rename(columns={"label": "two_year_recid", "level": feature}).set_index(keys)
    assert len(wanted) == len(change)
    np.testing.assert_allclose(wanted["change"].sort_index(), change.sort_index(), atol=1e-9)
    np.testing.assert_allclose(flows["into"] - flows["out"], flows["change"])
    assert flows["people"].sum() == result.n
    # nobody changes label or feature, so what leaves a group enters another in the same row
    assert flows.groupby(["label", "level"])["change"].sum().abs().max() < 1e-9


def test_limits_are_those_of_exact_binomial_tests_at_the_shared_level():
    result = compas_audit()
    flows = result.flows("priors")
    level = result.alpha / len(flows)
    for _, cell in flows.iterrows():
        # two-sided at half a cell's level: a quarter of it in each tail
        leave = binomtest(round(cell["out"]), result.n).proportion_ci(1 - level / 2)
        enter = binomtest(round(cell["into"]), result.n).proportion_ci(1 - level / 2)
        assert cell["lower"] == pytest.approx(result.n * (enter.low - leave.high), abs=1e-6)
        assert cell["upper"] == pytest.approx(result.n * (enter.high - leave.low), abs=1e-6)


def test_pvalues_are_holms_of_exact_sign_tests():
    flows = compas_audit().flows("age_cat")
    crossing = (flows["into"] + flows["out"]).round().astype(int)
    plain = [
        binomtest(round(enter), total).pvalue if total else 1.0
        for enter, total in zip(flows["into"], crossing, strict=True)
    ]
    ordered = sorted(range(len(plain)), key=lambda at: plain[at])
    largest, wanted = 0.0, {}
    for rank, at in enumerate(ordered):
        largest = max(largest, min(1.0, (len(plain) - rank) * plain[at]))
        wanted[at] = largest
    np.testing.assert_allclose(flows["pvalue"], [wanted[at] for at in range(len(plain))])


def test_holm_keeps_the_order_and_never_exceeds_one():
    found = holm(np.array([0.5, 0.001, 0.02, 0.9]))
    np.testing.assert_allclose(found, [1.0, 0.004, 0.06, 1.0])


@pytest.mark.parametrize("options", [{"budget": 0.2}, {"budget": 0.0}])
def test_flows_that_depend_on_budget_or_sample_are_descriptive(options):
    result = priced_audit(**options)
    assert result.target_scope == "observed"
    assert result.flows("x")["lower"].isna().all()
    assert {table.kind for table in result.summary.flows} == {"descriptive"}


def test_a_numeric_feature_of_many_levels_is_shown_by_quarters_of_the_people():
    rng = np.random.default_rng(3)
    people = random_people(3, n=400).assign(x=rng.normal(size=400).round(2))
    result = ft.audit(people, "good", y_pred="guess", sensitive_features=["group", "sex"])
    flows = result.flows("x")

    assert flows["level"].nunique() == 4
    by_quarter = flows.groupby("level")["people"].sum()
    assert by_quarter.between(90, 110).all()
    assert flows["lower"].isna().all()


def test_quarters_are_open_at_both_ends():
    people = random_people(3, n=400).assign(x=np.repeat(np.arange(40), 10))
    result = ft.audit(people, "good", y_pred="guess", sensitive_features="group")
    levels = list(dict.fromkeys(result.flows("x")["level"]))

    assert levels == ["up to 9", "10 to 19", "20 to 29", "30 and more"]
    heavy = people.assign(x=np.where(np.arange(400) < 20, np.arange(400), 99))
    lumped = ft.audit(heavy, "good", y_pred="guess", sensitive_features="group")
    assert set(lumped.flows("x")["level"]) == {"any number"}


def test_a_numeric_label_of_many_levels_is_shown_by_quarters_too():
    rng = np.random.default_rng(3)
    people = random_people(3, n=200).assign(good=rng.normal(size=200).round(3))
    result = ft.audit(people, "good", sensitive_features="group", loss="absolute",
                      loss_range=(0, 20), features=["group", "x"],
                      model=lambda points: points["x"] + (points["group"] == "a"))  # fmt: skip
    flows = result.flows("x")

    assert flows["label"].nunique() == 4
    assert flows.groupby("label")["people"].sum().between(45, 55).all()
    # where the cells end depends on the sample
    assert result.plan_is_fixed
    assert flows["lower"].isna().all()
    assert {len(table.cells) for table in result.summary.flows} == {4 * 3 * 3}


def audit_of(labels, levels, groups):
    at = np.arange(600)
    people = pd.DataFrame(
        {"g": at % groups, "f": at % levels, "y": at % labels, "said": at * 7 % labels}
    ).astype(str)
    return ft.audit(people, "y", y_pred="said", sensitive_features="g", rng=0)


@pytest.mark.parametrize(
    ("labels", "levels", "groups", "reason"),
    [
        (21, 2, 2, "there are more than 20 labels"),
        (20, 30, 20, "labels, values and groups make more than 1000 cells"),
        (2, 40, 2, None),
    ],
)
def test_flows_of_too_many_cells_are_left_out_of_a_document_and_said_to_be(
    labels, levels, groups, reason
):
    result = audit_of(labels, levels, groups)
    note = f"This report has no flows by f: {reason}."

    assert (note in result.summary.warnings) == (reason is not None)
    assert bool(result.summary.flows) == (reason is None)
    assert len(result.flows("f")) == labels * levels * groups


@pytest.mark.parametrize(("labels", "levels", "groups", "shown"), [(2, 50, 2, 40), (10, 30, 4, 25)])
def test_of_many_levels_a_document_shows_those_with_most_moves_and_the_sum_of_others(
    labels, levels, groups, shown
):
    result = audit_of(labels, levels, groups)
    (table,) = result.summary.flows
    whole = result.flows("f")
    whole["moves"] = whole["out"] + whole["into"]
    ranked = whole.groupby("level")["moves"].sum()

    cells = pd.DataFrame([vars(cell) | {"g": cell.group["g"]} for cell in table.cells])
    names = list(dict.fromkeys(cells["level"]))
    assert len(names) == shown
    assert names[-1] == "all others"
    assert table.kind == "descriptive"
    assert ranked[names[:-1]].min() >= ranked.drop(names[:-1]).max()
    # what is put together is the sum; who moves inside it does not cross its border
    others = whole[~whole["level"].isin(names)].groupby(["label", "g"])
    there = cells[cells["level"] == "all others"].set_index(["label", "g"])
    for name in ("people", "change"):
        assert there[name].to_dict() == pytest.approx(others[name].sum().to_dict())
    assert cells["people"].sum() == pytest.approx(whole["people"].sum())
    assert (
        f"Flows by f show the {shown - 1} of {levels} values with most swaps, and all others as "
        "one."
    ) in result.summary.warnings
    assert any("has no flows by f" in note for note in result.document(share=5).warnings)


def test_a_level_that_is_called_all_others_is_told_apart():
    at = np.arange(400)
    people = pd.DataFrame({"g": at % 2, "y": at % 2, "said": at * 7 % 3 % 2}).astype(str)
    people["f"] = np.where(at < 10, "all others", (at % 60).astype(str))
    result = ft.audit(people, "y", y_pred="said", sensitive_features="g", rng=0)
    names = [cell.level for cell in result.summary.flows[0].cells]

    assert names[-1] == "(all others)"


def test_levels_keep_their_declared_order_and_missing_ones_come_last():
    order = ["low", "middle", "high"]
    people = random_people(5).assign(size=lambda t: pd.Categorical.from_codes(t["x"], order))
    people.loc[:4, "size"] = None
    result = ft.audit(
        people.drop(columns="x"), "good", y_pred="guess", sensitive_features="group",
        missing="level",
    )  # fmt: skip

    levels = list(dict.fromkeys(result.flows("size")["level"]))
    assert levels[:3] == order
    assert len(levels) == 4
    assert levels[3] is None or np.isnan(levels[3])


def test_an_unknown_feature_is_refused():
    with pytest.raises(InputError, match=r"`feature` must be one of 'sex', 'race'.*got 'height'"):
        compas_audit().flows("height")


@pytest.mark.slow
def test_all_changes_are_inside_their_limits_in_as_many_samples_as_promised():
    repetitions, n = 400, 300
    rng = np.random.default_rng(17)
    cells = pd.MultiIndex.from_product(
        [["a", "b", "c"], [0, 1], [0, 1]], names=["g", "x", "y"]
    ).to_frame(index=False)
    f = rng.dirichlet(np.ones(len(cells)))
    model = lambda points: ((points["g"] == "a") | (points["x"] == 1)).astype(int)  # noqa: E731
    levels = {"g": ["a", "b", "c"]}

    def flows(counts):
        frame = cells.assign(count=counts)
        result = ft.audit(frame[frame["count"] > 0], "y", model=model, counts="count", rng=0,
                          features=["g", "x"], sensitive_features="g", levels=levels)  # fmt: skip
        return result.flows("x")

    keys = ["label", "level", "g"]
    truth = flows(np.round(f * 10**9).astype(int)).set_index(keys)["change"] * n / 10**9
    held = 0
    for counts in rng.multinomial(n, f, repetitions):
        found = flows(counts).set_index(keys)
        wanted = truth.reindex(found.index)
        held += bool(((found["lower"] <= wanted) & (wanted <= found["upper"])).all())
    error = 3 * np.sqrt(0.05 * 0.95 / repetitions)
    assert held / repetitions >= 0.95 - error
