"""Figure 2: who would have to be whom, the change in counts under the optimal plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtransport.datasets.compas import FEATURES, SENSITIVE
from fairtransport.reproduce.compas_study import audit_of_split

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from fairtransport.audit import AuditResult

SHOWN = tuple(name for name in FEATURES if name not in SENSITIVE)
LABELS = {1: "reoffended", 0: "did not reoffend"}


def figure2_data(seed: int = 0) -> pd.DataFrame:
    """Return the change in counts by each feature, label and group.

    Returns
    -------
    Columns: ``feature``, ``label``, ``level``, ``race``, ``sex``, ``people``, ``out``,
    ``into``, ``change``, and simultaneous limits of the change with Holm's p-values.
    """
    return flows_of(audit_of_split(seed))


def flows_of(result: AuditResult) -> pd.DataFrame:
    """Return the flows by all features that are not sensitive, in one table."""
    import pandas as pd

    tables = [result.flows(name).assign(feature=name) for name in SHOWN]
    joined: pd.DataFrame = pd.concat(tables, ignore_index=True)
    return joined[["feature", *(name for name in joined.columns if name != "feature")]]


def figure2_chart(data: pd.DataFrame) -> Any:
    """Draw the table: for each feature a heat map of each label."""
    import altair as alt

    from fairtransport.report.charts import flow_heatmaps

    rows = []
    for feature in data["feature"].unique():
        part = data[data["feature"] == feature].drop(columns="feature")
        cells = [
            {**row, "group": {name: row[name] for name in SENSITIVE}, "label": LABELS[row["label"]]}
            for row in part.to_dict("records")
        ]
        rows.append(flow_heatmaps(cells, feature=feature))
    return alt.vconcat(*rows).properties(
        usermeta={"embedOptions": {"actions": False}},
        description="Heat maps of the change in the number of people of each race and sex under "
        "the optimal plan, by age, prior crimes and charge, for people who reoffended and for "
        "people who did not.",
    )


def write_figure2(folder: Path, seed: int = 0) -> list[Path]:
    """Write the figure as PNG and SVG with the data behind it as CSV."""
    from fairtransport.reproduce.files import write_figure

    data = figure2_data(seed)
    return write_figure(folder, "figure2", figure2_chart(data), data)
