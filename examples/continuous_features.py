"""Audits a model of continuous features with a similarity that is learned from data.

    python examples/continuous_features.py pictures

A model grants loans. It does not receive the applicant's group, but the area they live in, which
reveals the group. All data are generated, so we know where the bias is: past officers marked
applicants down for their area, and the model learned that from them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import fairtransport as ft
from fairtransport.similarity import SensitiveSubspace

FEATURES = ["income", "savings", "area"]
BUDGET, DELTA = 0.003, 0.1
COLOURS = {"learned from past officers": "#D55E00", "without the direction": "#0072B2"}
GREY = "#444444"


def applicants(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Draw applicants: income and savings decide who repays; the area reveals the group."""
    group = rng.choice(["A", "B"], n)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=FEATURES).assign(group=group)
    frame["area"] += 1.5 * (group == "B")
    worth = frame["income"] + frame["savings"]
    frame["repaid"] = (worth + 0.7 * rng.normal(size=n) > 0).astype(int)
    marked_down = worth - 0.8 * frame["area"] + 0.6
    frame["granted"] = (marked_down + 0.3 * rng.normal(size=n) > 0).astype(int)
    return frame


def curve_table(results: dict[str, ft.AuditResult], most: float) -> pd.DataFrame:
    """Return the corners of each audit's budget curve, up to a budget."""
    tables = []
    for name, result in results.items():
        curve = result.budget_curve
        inside = curve.budgets[curve.budgets < most]
        budgets = np.r_[inside, most]
        values = [curve(budget) for budget in budgets]
        tables.append(pd.DataFrame({"model": name, "budget": budgets, "value": values}))
    return pd.concat(tables)


def curve_chart(table: pd.DataFrame) -> alt.LayerChart:
    """Draw how the statistic grows with the budget, and the audit's own point."""
    colour = (
        alt.Color("model:N", title="Model", sort=list(COLOURS))
        .scale(domain=list(COLOURS), range=list(COLOURS.values()))
        .legend(orient="top", symbolStrokeWidth=3, labelLimit=300)
    )
    up = alt.Y("value:Q", title="How much worse the model does, ψ")
    lines = (
        alt.Chart(table)
        .mark_line(strokeWidth=2.5)
        .encode(
            x=alt.X("budget:Q", title="Budget ε: mean squared distance that people are moved"),
            y=up.axis(format=".0%"),
            color=colour,
        )
    )
    marks = pd.DataFrame(
        {"budget": [BUDGET], "delta": [DELTA], "here": [f"this audit, ε = {BUDGET:g}"],
         "limit": [f"allowed, δ = {DELTA:.0%}"], "right": [table["budget"].max()]}
    )  # fmt: skip
    rules = alt.Chart(marks).mark_rule(strokeDash=[6, 4], color=GREY)
    return alt.layer(
        lines,
        rules.encode(x="budget:Q"),
        rules.encode(y=alt.Y("delta:Q")),
        alt.Chart(marks)
        .mark_text(align="left", dx=6, color=GREY, fontSize=12)
        .encode(x="budget:Q", y=alt.value(12), text="here:N"),
        alt.Chart(marks)
        .mark_text(align="right", dy=-8, color=GREY, fontSize=12)
        .encode(x="right:Q", y="delta:Q", text="limit:N"),
    ).properties(
        width=520, height=320, title="More errors after people were swapped with similar ones"
    )


def move_table(result: ft.AuditResult, most: int = 40) -> pd.DataFrame:
    """Return where some moves of the optimal plan start and end."""
    plan = result.plan.tocoo()
    moved = np.flatnonzero(plan.row != plan.col)
    some = np.random.default_rng(0).permutation(moved)[:most]
    here, there = (result.space.frame(FEATURES, part[some]) for part in (plan.row, plan.col))
    ends = {"worth": here["income"] + here["savings"], "area": here["area"]}
    ends |= {"to_worth": there["income"] + there["savings"], "to_area": there["area"]}
    return pd.DataFrame(ends)


def border_table(model: LogisticRegression) -> pd.DataFrame:
    """Return the line between those who get a loan and those who do not."""
    income, savings, area = model.coef_[0]
    across = np.array([-3.0, 5.0])
    worth = -(model.intercept_[0] + area * across) / ((income + savings) / 2)
    return pd.DataFrame({"area": across, "worth": worth})


def move_chart(people: pd.DataFrame, moves: pd.DataFrame, border: pd.DataFrame) -> alt.LayerChart:
    """Draw applicants, the model's border and the moves across it."""
    across = alt.X("area:Q", title="Area (group B lives further to the right)")
    across = across.scale(domain=[-3, 5]).axis(grid=False, tickCount=8)
    up = alt.Y("worth:Q", title="Income and savings").scale(domain=[-4, 4]).axis(grid=False)
    colours = alt.Scale(domain=["A", "B"], range=["#009E73", "#CC79A7"])
    dots = (
        alt.Chart(people)
        .mark_circle(size=24, opacity=0.5, clip=True)
        .encode(
            x=across, y=up, color=alt.Color("group:N", title="Group", scale=colours)
            .legend(orient="right", symbolOpacity=1, symbolSize=80)
        )
    )  # fmt: skip
    arrows = (
        alt.Chart(moves)
        .mark_rule(strokeWidth=1.3, opacity=0.8, color=GREY)
        .encode(x="area:Q", y="worth:Q", x2="to_area:Q", y2="to_worth:Q")
    )
    heads = (
        alt.Chart(moves)
        .mark_point(shape="circle", size=28, filled=True, color=GREY, opacity=1)
        .encode(x="to_area:Q", y="to_worth:Q")
    )
    line = alt.Chart(border).mark_line(strokeWidth=2, strokeDash=[6, 4], color="#D55E00", clip=True)
    name = alt.Chart(border.tail(1)).mark_text(
        align="right", dx=-45, dy=4, color="#D55E00", fontSize=12, text="granted above this line"
    )
    place = {"x": "area:Q", "y": "worth:Q"}
    return alt.layer(dots, arrows, heads, line.encode(**place), name.encode(**place)).properties(
        width=520, height=360,
        title=alt.Title("Swapped with someone of the same worth from another area",
                        subtitle="Each line ends in a dot where the person was moved to; 40 of "
                                 "all moves are shown"),
    )  # fmt: skip


def main(folder: Path) -> None:
    """Fit, audit, print and draw."""
    rng = np.random.default_rng(7)
    history, cases = applicants(rng, 3000), applicants(rng, 500)

    # the similarity is learned from the history, never from the cases of the audit
    similarity = SensitiveSubspace(["group"], FEATURES).fit(history)
    models = {
        "learned from past officers": LogisticRegression().fit(
            history[FEATURES], history["granted"]
        ),
        "without the direction": make_pipeline(
            FunctionTransformer(similarity.transform), LogisticRegression()
        ).fit(history[FEATURES], history["repaid"]),
    }
    common = {"sensitive_features": ["group"], "features": FEATURES, "rng": 1}
    cases = cases.drop(columns="granted")

    blind = ft.audit(cases, "repaid", model=models["learned from past officers"], **common)
    print(f"People who differ in the group alone: ψ = {blind.statistic:.3f}")
    print(similarity.describe())
    results = {
        name: ft.audit(cases, "repaid", model=model, similarity=similarity, budget=BUDGET,
                       delta=DELTA, **common)
        for name, model in models.items()
    }  # fmt: skip
    for name, result in results.items():
        print(
            f"Model {name}: errors go from {result.baseline_risk:.1%} to "
            f"{result.worst_case_risk:.1%}; ψ = {result.statistic:.3f}, lower bound "
            f"{result.lower_bound:.3f}; {DELTA:g}-fairness: {result.verdict}"
        )
    folder.mkdir(parents=True, exist_ok=True)
    curve_chart(curve_table(results, 4 * BUDGET)).save(folder / "budget_curve.png", scale_factor=2)
    people = cases.assign(worth=cases["income"] + cases["savings"])
    moves = move_table(results["learned from past officers"])
    border = border_table(models["learned from past officers"])
    move_chart(people, moves, border).save(folder / "moves.png", scale_factor=2)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
