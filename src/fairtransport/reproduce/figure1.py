"""Figure 1: the sampling law of the FaiTH statistic beside its limit and beside the bootstrap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtransport.inference import DrawnLaw, limit_at, sampling_law
from fairtransport.reproduce.populations import Population, regular, skewed_corner

if TYPE_CHECKING:
    import pandas as pd
    from altair.typing import ChartType

    from fairtransport.checks import FloatArray

SAMPLE_SIZE = 2_000
REPETITIONS = 20_000
BINS = 50
LIMIT, BOOTSTRAP = "asymptotic", "bootstrap"


def figure1_data(seed: int = 0) -> pd.DataFrame:
    """Return the densities that the figure shows, one row a bin.

    Parameters
    ----------
    seed
        Of the simulation.

    Returns
    -------
    Columns: ``case`` (regular, corner), ``panel`` (asymptotic, bootstrap), ``series``
    (what is approximated, or the approximation), ``left``, ``right`` and ``density``.
    """
    import pandas as pd

    streams = np.random.default_rng(seed).spawn(2)
    cases = zip((regular(), skewed_corner()), streams, strict=True)
    return pd.concat([_one_case(case, rng) for case, rng in cases], ignore_index=True)


def _one_case(case: Population, rng: np.random.Generator) -> pd.DataFrame:
    """Return the densities of one population: truth, limit law and one sample's bootstrap.

    Parameters
    ----------
    case
        A population with known ψ(f*).
    rng
        Draws samples and resamples.
    """
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
    """Draw the table: both panels for each case, the approximation as a line over bars.

    Parameters
    ----------
    data
        From `figure1_data`.
    """
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
