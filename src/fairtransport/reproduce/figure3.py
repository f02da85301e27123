"""Figure 3: accuracy and FaiTH of the l1 path on the validation people, and the chosen model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.datasets.compas import split_compas
from fairtransport.reproduce.fair_path import FairPath, fair_path

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
    from altair.typing import ChartType

# Okabe and Ito's palette, which people with any colour vision can tell apart
STATISTIC, BOUND, THRESHOLD, ACCURACY, CHOSEN = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#000000",
    "#444444",
)
WIDTH, HEIGHT = 520, 190


def figure3_data(seed: int = 0) -> pd.DataFrame:
    """Return the path, a row a model.

    Parameters
    ----------
    seed
        Which split.

    Returns
    -------
    Columns: ``strength`` (1/λ), ``accuracy``, ``statistic`` (FaiTH), ``lower_bound`` (of the
    one-sided interval at 95 %), ``delta``, ``candidate`` (δ-fairness is not rejected) and
    ``chosen``.
    """
    return path_table(fair_path(split_compas(seed).training, seed))


def path_table(path: FairPath) -> pd.DataFrame:
    """Return a path as the figure's table.

    Parameters
    ----------
    path
        The models with their audits.
    """
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
    """Draw accuracy above FaiTH over one axis of 1/λ, with δ and the chosen model.

    Parameters
    ----------
    data
        From `figure3_data`.
    """
    import altair as alt

    chosen = data[data["chosen"]]
    strength = float(chosen["strength"].iloc[0])
    across = strength_axis(data)
    mark = alt.Chart(chosen).mark_rule(strokeDash=[2, 3], color=CHOSEN).encode(x=across)
    words = (
        alt.Chart(chosen)
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
    """Return the axis of 1/λ, from 0 to the weakest penalty.

    Parameters
    ----------
    data
        With a column ``strength``.
    """
    import altair as alt

    across = alt.X("strength:Q", title="1/λ").axis(labelFlush=False)
    return across.scale(domain=[0, float(data["strength"].max())])


def _fairness_lines(data: pd.DataFrame, across: alt.X) -> alt.Chart:
    """Draw statistic, lower bound and δ against 1/λ, told apart by colour and dashes."""
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
