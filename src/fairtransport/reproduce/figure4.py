"""Figure 4: the coefficients along the l1 path, in the order in which they enter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.datasets.compas import split_compas
from fairtransport.reproduce.coding import SELECTABLE
from fairtransport.reproduce.fair_path import FairPath, fair_path
from fairtransport.reproduce.figure3 import strength_axis

if TYPE_CHECKING:
    import pandas as pd
    from altair.typing import ChartType

# Okabe and Ito's palette, which people with any colour vision can tell apart
COLOURS = ("#0072B2", "#D55E00", "#000000", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
DASHES = ([1, 0], [8, 3], [1, 0], [2, 2], [8, 2, 2, 2], [5, 2], [1, 0])
MARK = "#444444"
WORDS = {"race": "race (Caucasian)", "female": "sex (female)"}


def figure4_data(seed: int = 0) -> pd.DataFrame:
    """Return the coefficients along the path, a row for each model and variable.

    Parameters
    ----------
    seed
        Which split.

    Returns
    -------
    Columns: ``strength`` (1/λ), ``variable``, ``entry`` (its place in the order of entering,
    missing if it never does), ``coefficient`` and ``chosen``.
    """
    return coefficient_table(fair_path(split_compas(seed).training, seed))


def coefficient_table(path: FairPath) -> pd.DataFrame:
    """Return a path's coefficients as the figure's table.

    Parameters
    ----------
    path
        The models with their audits.
    """
    import pandas as pd

    places = {name: place for place, name in enumerate(path.entry_order(), start=1)}
    wide = pd.DataFrame(path.coefficients, columns=list(SELECTABLE))
    wide["strength"] = path.strengths
    wide["chosen"] = wide.index == path.chosen
    long = wide.melt(["strength", "chosen"], var_name="variable", value_name="coefficient")
    long["entry"] = long["variable"].map(places).astype("Int64")
    return long[["strength", "variable", "entry", "coefficient", "chosen"]]


def figure4_chart(data: pd.DataFrame) -> ChartType:
    """Draw a line a variable; the legend numbers them as they enter.

    Parameters
    ----------
    data
        From `figure4_data`.
    """
    import altair as alt

    order = data.drop_duplicates("variable").sort_values("entry", na_position="last")
    names = {row.variable: _name(str(row.variable), row.entry) for row in order.itertuples()}
    drawn = data.assign(name=data["variable"].map(names)).drop(columns="entry")
    strength = float(data.loc[data["chosen"], "strength"].iloc[0])
    across = strength_axis(data)
    domain = list(names.values())
    lines = (
        alt.Chart(drawn)
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
    at = alt.Chart(drawn[drawn["chosen"]].head(1)).encode(x=across)
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
    """Return a variable as the legend has it, numbered unless it never enters."""
    import pandas as pd

    words = WORDS.get(variable, variable)
    return words if entry is pd.NA else f"{entry}. {words}"
