"""Figures 1 to 4 of the paper: data, charts, files, and populations with known ψ(f*)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtransport._core.files import write_bytes
from fairtransport.datasets.compas import FEATURES, SENSITIVE, split_compas
from fairtransport.geometry import Embedding, Geometry
from fairtransport.inference import DrawnLaw, limit_at, sampling_law
from fairtransport.report.charts import chart_bytes
from fairtransport.reproduce.compas import SELECTABLE, audit_of_split
from fairtransport.reproduce.fair_path import FairPath, fair_path
from fairtransport.transport import AuditProblem

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import altair as alt
    import pandas as pd
    from altair.typing import ChartType

    from fairtransport._core.validation import FloatArray
    from fairtransport.audits import AuditResult


SAMPLE_SIZE = 2_000
REPETITIONS = 20_000
BINS = 50
LIMIT, BOOTSTRAP = "asymptotic", "bootstrap"


def figure1_data(seed: int = 0) -> pd.DataFrame:
    """Return the densities of the figure, one row per bin."""
    import pandas as pd

    streams = np.random.default_rng(seed).spawn(2)
    cases = zip((regular(), skewed_corner()), streams, strict=True)
    return pd.concat([_one_case(case, rng) for case, rng in cases], ignore_index=True)


def _one_case(case: Population, rng: np.random.Generator) -> pd.DataFrame:
    """Return the densities of one population: truth, limit law and one sample's bootstrap."""
    import pandas as pd

    samples = rng.multinomial(SAMPLE_SIZE, case.frequencies, REPETITIONS)
    values = case.problem.values(samples / SAMPLE_SIZE)
    statistic = np.sqrt(SAMPLE_SIZE) * (values - case.truth)
    bootstrap = sampling_law(
        case.problem, samples[0], method="m-out-of-n", n_resamples=REPETITIONS, rng=rng
    )
    assert isinstance(bootstrap, DrawnLaw)  # noqa: S101
    low, high = np.quantile(statistic, [0.0005, 0.9995]).tolist()
    edges = np.linspace(low, high, BINS + 1)
    limit = limit_at(case.problem, case.frequencies)
    mass = np.diff(limit.cdf(edges)) / np.diff(edges)
    truth = _density(statistic, edges)
    parts = [
        (LIMIT, "sampling law", truth),
        (LIMIT, "limit law (Theorem 1)", mass),
        (BOOTSTRAP, "sampling law", truth),
        (BOOTSTRAP, "m-out-of-n bootstrap", _density(bootstrap.draws, edges)),
    ]
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "case": case.name,
                    "panel": panel,
                    "series": series,
                    "left": edges[:-1],
                    "right": edges[1:],
                    "density": density,
                }
            )
            for panel, series, density in parts
        ],
        ignore_index=True,
    )


def _density(draws: FloatArray, edges: FloatArray) -> FloatArray:
    """Return the histogram's density; draws outside the edges count in the total."""
    inside, _ = np.histogram(draws, edges)
    return np.asarray(inside / len(draws) / np.diff(edges))


def figure1_chart(data: pd.DataFrame) -> ChartType:
    """Draw the table: both panels for each case, the approximation as a line over bars."""
    import altair as alt

    rows = []
    for case in data["case"].unique():
        panels = []
        for panel in (LIMIT, BOOTSTRAP):
            part = data[(data["case"] == case) & (data["panel"] == panel)]
            bars = part[part["series"] == "sampling law"]
            line = part[part["series"] != "sampling law"].assign(
                middle=lambda table: (table["left"] + table["right"]) / 2
            )
            x = alt.X("left:Q", title="√n (ψ(fₙ) − ψ(f*))").scale(zero=False, nice=False)
            colour = alt.Color("series:N", title=None).scale(
                domain=["sampling law", "limit law (Theorem 1)", "m-out-of-n bootstrap"],
                range=["#bdd7e7", "#08306b", "#d94801"],
            )
            layer = alt.layer(
                alt.Chart(bars).mark_rect().encode(
                    x=x, x2="right:Q", y=alt.Y("zero:Q", title="density"), y2="density:Q",
                    color=colour,
                ).transform_calculate(zero="0"),
                alt.Chart(line).mark_line(strokeWidth=2).encode(
                    x="middle:Q", y="density:Q", color=colour
                ),
            )  # fmt: skip
            title = f"{case.capitalize()}: {panel} approximation"
            panels.append(layer.properties(width=320, height=220, title=title))
        rows.append(alt.hconcat(*panels))
    chart: ChartType = alt.vconcat(*rows).configure_legend(orient="bottom").properties(
        usermeta={"embedOptions": {"actions": False}},
        description="Histograms of the scaled FaiTH statistic beside its limit law and beside "
        "the m-out-of-n bootstrap, in a regular case and at a corner.",
    )  # fmt: skip
    return chart


SHOWN = tuple(name for name in FEATURES if name not in SENSITIVE)
LABELS = {1: "reoffended", 0: "did not reoffend"}


def figure2_data(seed: int = 0) -> pd.DataFrame:
    """Return the change in counts by each feature, label and group."""
    return flows_of(audit_of_split(seed))


def flows_of(result: AuditResult) -> pd.DataFrame:
    """Return the flows by all features that are not sensitive, in one table."""
    import pandas as pd

    tables = [result.flows(name).assign(feature=name) for name in SHOWN]
    joined: pd.DataFrame = pd.concat(tables, ignore_index=True)
    return joined[["feature", *(name for name in joined.columns if name != "feature")]]


def figure2_chart(data: pd.DataFrame) -> ChartType:
    """Draw the table: for each feature a heat map of each label."""
    from fairtransport.report.charts import stacked_heatmaps

    def cells(part: pd.DataFrame) -> list[dict[str, object]]:
        """Return rows for the heat maps, with labels as words."""
        rows = [
            {str(name): value for name, value in row.items()} for row in part.to_dict("records")
        ]
        return [
            {**row, "group": {name: row[name] for name in SENSITIVE}, "label": LABELS[row["label"]]}
            for row in rows
        ]

    features = data["feature"].unique()
    # those who reoffended are on the left, as in the paper
    ordered = data.sort_values("label", ascending=False, kind="stable")
    tables = {name: cells(ordered[ordered["feature"] == name]) for name in features}
    return stacked_heatmaps(tables, label="true label")


# Okabe and Ito's palette, which people with any colour vision can distinguish
STATISTIC, BOUND, THRESHOLD, ACCURACY, CHOSEN = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#000000",
    "#444444",
)
WIDTH, HEIGHT = 520, 190


def figure3_data(seed: int = 0) -> pd.DataFrame:
    """Return the path, one row per model."""
    return path_table(fair_path(split_compas(seed).training, seed))


def path_table(path: FairPath) -> pd.DataFrame:
    """Return a path as the figure's table."""
    import pandas as pd

    return pd.DataFrame(
        {
            "strength": path.strengths,
            "accuracy": path.accuracy,
            "statistic": path.statistic,
            "lower_bound": path.lower_bound,
            "delta": path.delta,
            "candidate": path.candidates,
            "chosen": [place == path.chosen for place in range(len(path.models))],
        }
    )


def figure3_chart(data: pd.DataFrame) -> ChartType:
    """Draw accuracy above FaiTH over one axis of 1/λ, with δ and the chosen model."""
    import altair as alt

    best = data[data["chosen"]]
    strength = float(best["strength"].iloc[0])
    across = strength_axis(data)
    mark = alt.Chart(best).mark_rule(strokeDash=[2, 3], color=CHOSEN).encode(x=across)
    words = (
        alt.Chart(best)
        .mark_text(align="left", dx=6, color=CHOSEN, fontSize=12)
        .encode(x=across, y=alt.value(HEIGHT - 12), text=alt.value(f"chosen: 1/λ = {strength:g}"))
    )
    accuracy = (
        alt.Chart(data)
        .mark_line(interpolate="step-after", strokeWidth=2, color=ACCURACY)
        .encode(
            x=across, y=alt.Y("accuracy:Q", title="accuracy").scale(zero=False).axis(format=".2f")
        )
    )
    top = alt.layer(mark, accuracy, words).properties(
        width=WIDTH, height=HEIGHT, title="Accuracy on the validation people"
    )
    bottom = alt.layer(mark, _fairness_lines(data, across)).properties(
        width=WIDTH, height=HEIGHT, title="FaiTH on the validation people"
    )
    chart: ChartType = (
        alt.vconcat(top, bottom)
        .configure_legend(orient="bottom", labelLimit=300, symbolStrokeWidth=2)
        .configure_title(anchor="start")
        .properties(
            usermeta={"embedOptions": {"actions": False}},
            description=_description(data, strength),
        )
    )
    return chart


def strength_axis(data: pd.DataFrame) -> alt.X:
    """Return the axis of 1/λ, from 0 to the weakest penalty."""
    import altair as alt

    across = alt.X("strength:Q", title="1/λ").axis(labelFlush=False)
    return across.scale(domain=[0, float(data["strength"].max())])


def _fairness_lines(data: pd.DataFrame, across: alt.X) -> alt.Chart:
    """Draw statistic, lower bound and δ against 1/λ, distinguished by colour and dashes."""
    import altair as alt

    names = {
        "statistic": "FaiTH",
        "lower_bound": "one-sided 95 % lower bound",
        "delta": f"δ = {data['delta'].iloc[0]:g}",
    }
    long = data.melt("strength", list(names), var_name="series", value_name="value")
    long["series"] = long["series"].map(names)
    order = list(names.values())
    lines: alt.Chart = (
        alt.Chart(long)
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=across,
            y=alt.Y("value:Q", title="FaiTH").axis(format=".2f"),
            color=alt.Color("series:N", title=None, sort=order).scale(
                domain=order, range=[STATISTIC, BOUND, THRESHOLD]
            ),
            strokeDash=alt.StrokeDash("series:N", title=None, sort=order).scale(
                domain=order, range=[[1, 0], [6, 3], [2, 2]]
            ),
        )
    )
    return lines


def _description(data: pd.DataFrame, strength: float) -> str:
    """Return the alternative text."""
    delta, passed = float(data["delta"].iloc[0]), int(data["candidate"].sum())
    return (
        "Two step charts against 1/λ of l1-penalised logistic regressions: accuracy on the "
        "validation people, and the FaiTH statistic with its one-sided 95 % lower bound and the "
        f"threshold δ = {delta:g}. δ-fairness is not rejected for {passed} of "
        f"{len(data)} models; the one with the best accuracy has 1/λ = {strength:g}."
    )


# Okabe and Ito's palette, which people with any colour vision can distinguish
COLOURS = ("#0072B2", "#D55E00", "#000000", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
DASHES = ([1, 0], [8, 3], [1, 0], [2, 2], [8, 2, 2, 2], [5, 2], [1, 0])
MARK = "#444444"
WORDS = {"race": "race (Caucasian)", "female": "sex (female)"}


def figure4_data(seed: int = 0) -> pd.DataFrame:
    """Return the coefficients along the path, one row per model and variable."""
    return coefficient_table(fair_path(split_compas(seed).training, seed))


def coefficient_table(path: FairPath) -> pd.DataFrame:
    """Return a path's coefficients as the figure's table."""
    import pandas as pd

    places = {name: place for place, name in enumerate(path.entry_order(), start=1)}
    wide = pd.DataFrame(path.coefficients, columns=list(SELECTABLE))
    wide["strength"] = path.strengths
    wide["chosen"] = wide.index == path.chosen
    long = wide.melt(["strength", "chosen"], var_name="variable", value_name="coefficient")
    long["entry"] = long["variable"].map(places).astype("Int64")
    return long[["strength", "variable", "entry", "coefficient", "chosen"]]


def figure4_chart(data: pd.DataFrame) -> ChartType:
    """Draw a line per variable; the legend numbers them as they enter."""
    import altair as alt

    order = data.drop_duplicates("variable").sort_values("entry", na_position="last")
    names = {row.variable: _name(str(row.variable), row.entry) for row in order.itertuples()}
    named_data = data.assign(name=data["variable"].map(names)).drop(columns="entry")
    strength = float(data.loc[data["chosen"], "strength"].iloc[0])
    across = strength_axis(data)
    domain = list(names.values())
    lines = (
        alt.Chart(named_data)
        .mark_line(strokeWidth=2)
        .encode(
            x=across,
            y=alt.Y("coefficient:Q", title="coefficient"),
            color=alt.Color("name:N", title="in order of entry", sort=domain).scale(
                domain=domain, range=list(COLOURS)
            ),
            strokeDash=alt.StrokeDash("name:N", title="in order of entry", sort=domain).scale(
                domain=domain, range=list(DASHES)
            ),
        )
    )
    at = alt.Chart(named_data[named_data["chosen"]].head(1)).encode(x=across)
    rule = at.mark_rule(strokeDash=[2, 3], color=MARK)
    words = at.mark_text(align="left", dx=6, color=MARK, fontSize=12).encode(
        y=alt.value(10), text=alt.value(f"chosen: 1/λ = {strength:g}")
    )
    chart: ChartType = (
        alt.layer(rule, lines, words)
        .configure_legend(labelLimit=300, symbolStrokeWidth=2, symbolSize=300)
        .configure_title(anchor="start")
        .properties(
            width=480,
            height=320,
            title="Coefficients of the l1-penalised logistic regression",
            usermeta={"embedOptions": {"actions": False}},
            description="Line chart of seven coefficients against 1/λ. They enter in the order "
            f"{', '.join(domain)}. A line marks the chosen model, 1/λ = {strength:g}.",
        )
    )
    return chart


def _name(variable: str, entry: object) -> str:
    """Return a variable for the legend, numbered unless it never enters."""
    import pandas as pd

    words = WORDS.get(variable, variable)
    return words if entry is pd.NA else f"{entry}. {words}"


FIGURES: dict[int, tuple[Callable[[int], pd.DataFrame], Callable[[pd.DataFrame], ChartType]]] = {
    1: (figure1_data, figure1_chart),
    2: (figure2_data, figure2_chart),
    3: (figure3_data, figure3_chart),
    4: (figure4_data, figure4_chart),
}
"""The functions from a seed to the table behind each figure, and from the table to the figure."""


def write_figure(folder: Path, number: int, seed: int = 0) -> list[Path]:
    """Write a figure as PNG and SVG with the data behind it as CSV, and return their paths."""
    table, draw = FIGURES[number]
    data = table(seed)
    chart = draw(data)
    folder.mkdir(parents=True, exist_ok=True)
    contents = {
        "png": chart_bytes(chart, ".png"),
        "svg": chart_bytes(chart, ".svg"),
        "csv": data.to_csv(index=False, lineterminator="\n").encode(),
    }
    return [
        write_bytes(folder / f"figure{number}.{ending}", content, "output")
        for ending, content in contents.items()
    ]


@dataclass(frozen=True, eq=False)
class Population:
    """An audit problem, the true frequencies f*, and an audit's prior knowledge of losses."""

    name: str
    problem: AuditProblem
    frequencies: FloatArray
    loss_range: tuple[float, float] = (0.0, 1.0)
    binary_losses: bool = False

    @property
    def truth(self) -> float:
        """ψ(f*)."""
        return self.problem.value(self.frequencies)


def regular() -> Population:
    """Return twelve points in the plane, the budget inside a piece of the budget curve."""
    rng = np.random.default_rng(11)
    losses, points = rng.random(12), rng.random((12, 2))
    problem = AuditProblem(losses, Geometry(np.zeros(12, np.int64), Embedding(points)), budget=0.03)
    return Population("regular", problem, rng.dirichlet(np.full(12, 2.0)))


def skewed_corner() -> Population:
    """Return a budget that ends at a corner, with normals of very different spread behind it.

    Forty percent can be moved at cost 1 for a gain of 1, which uses the budget up exactly;
    five percent gain .3 for free. The limit is the minimum of normals with standard
    deviations .48 and .07.
    """
    costs = np.full((5, 5), np.inf)
    np.fill_diagonal(costs, 0)
    costs[0, 3], costs[2, 4] = 1, 0
    problem = AuditProblem([0, 0, 0, 1, 0.3], costs, budget=0.4)
    return Population("corner", problem, np.array([0.4, 0.55, 0.05, 0, 0]))
