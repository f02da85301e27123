"""The power of an audit against its size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.errors import InputError
from fairtransport.report.charts.style import BLUE, HEIGHT, MARK, VERMILLION, WIDTH, check_columns

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
    from altair.typing import ChartType

    from fairtransport.inference import SamplePlan

COLOURS = {"reject": BLUE, "certify": VERMILLION}


def power_table(plan: SamplePlan) -> pd.DataFrame:
    """Return a plan's power curve as a table with columns n, power, low, high and goal.

    Parameters
    ----------
    plan
        What `sample_size` returned.
    """
    import pandas as pd

    curve = plan.curve
    columns = {"n": curve.n, "power": curve.power, "low": curve.low, "high": curve.high}
    return pd.DataFrame({**columns, "goal": plan.goal})


def power_chart(table: pd.DataFrame, *, wanted: float, chosen: int) -> ChartType:
    """Draw the power of an audit against its size.

    Parameters
    ----------
    table
        Columns ``n``, ``power``, ``low``, ``high`` (an interval for a simulated power; the
        power itself where it is exact) and ``goal`` ("reject" or "certify").
    wanted, chosen
        The power that was asked for and the size that was found, marked by lines.
    """
    import altair as alt

    _check_table(table)
    goals = [goal for goal in COLOURS if (table["goal"] == goal).any()]
    legend = None if len(goals) == 1 else alt.Legend(symbolOpacity=1)
    colour = alt.Color("goal:N", title="Goal", legend=legend).scale(
        domain=goals, range=[COLOURS[goal] for goal in goals]
    )
    # layers merge their axes only if they agree on title and scale
    across, up = "Number of cases, n", f"Probability to {' or '.join(goals)}"

    def x(name: str) -> alt.X:
        """Return the channel of sizes."""
        return alt.X(f"{name}:Q", title=across).scale(zero=False, nice=False)

    def y(name: str) -> alt.Y:
        """Return the channel of probabilities."""
        return alt.Y(f"{name}:Q", title=up).scale(domain=[0, 1]).axis(format="%")

    curve = alt.Chart(table).encode(x=x("n"), color=colour)
    marked = {"values": [{"wanted": wanted, "chosen": chosen, "words": f"n = {chosen:,}"}]}
    marks = alt.Chart(marked)
    layers = [
        curve.mark_area(opacity=0.25).encode(y=y("low"), y2="high:Q"),
        curve.mark_line(strokeWidth=2).encode(y=y("power")),
        marks.mark_rule(strokeDash=[6, 4], color=MARK).encode(y=y("wanted")),
        marks.mark_rule(strokeDash=[2, 3], color=MARK).encode(x=x("chosen")),
        marks.mark_text(align="left", dx=5, dy=-6, color=MARK, fontSize=12).encode(
            x=x("chosen"), y=alt.value(HEIGHT), text="words:N"
        ),
    ]
    if (table["low"] < table["high"]).any():
        layers.append(curve.mark_point(filled=True, opacity=1).encode(y=y("power")))
    return alt.layer(*layers).properties(
        width=WIDTH,
        height=HEIGHT,
        title=f"Power of an audit with n cases (wanted: {wanted:.0%})",
        description=_description(table, goals, wanted, chosen),
        usermeta={"embedOptions": {"actions": False}},
    )


def _check_table(table: pd.DataFrame) -> None:
    """Refuse a table without rows, or with goals that there are not.

    Parameters
    ----------
    table
        What `power_curve` returned, or what a user made in its likeness.

    Raises
    ------
    InputError
        If a column is missing, no row is there, or a goal is neither "reject" nor "certify".
    """
    check_columns(table.columns, ("n", "power", "low", "high", "goal"))
    unknown = [goal for goal in table["goal"] if goal not in COLOURS]
    if unknown or not len(table):
        got = repr(unknown[0]) if unknown else "no row"
        msg = f"`table` must have rows with the goal {' or '.join(COLOURS)}, got {got}"
        raise InputError(msg)


def _description(table: pd.DataFrame, goals: list[str], wanted: float, chosen: int) -> str:
    """Return the alternative text: the power at both ends, and what the lines mark.

    Parameters
    ----------
    table
        Power by number of cases and goal.
    goals
        The goals that are drawn.
    wanted, chosen
        The wanted probability and the number of cases that is enough for it.
    """
    ordered = table.sort_values("n")
    first, last = ordered.iloc[0], ordered.iloc[-1]
    return (
        f"Line chart of the probability to {' or '.join(goals)} δ-fairness against the number of "
        f"cases: {first['power']:.0%} with {first['n']:,} cases, {last['power']:.0%} with "
        f"{last['n']:,}. Lines mark the wanted probability, {wanted:.0%}, and the number of cases "
        f"that is enough for it, {chosen:,}."
    )
