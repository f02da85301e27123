"""Figure 2: who would have to be whom, the change in counts under the optimal plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.datasets.compas import FEATURES, SENSITIVE
from fairtransport.reproduce.compas_study import audit_of_split

if TYPE_CHECKING:
    import pandas as pd
    from altair.typing import ChartType

    from fairtransport.audit import AuditResult

SHOWN = tuple(name for name in FEATURES if name not in SENSITIVE)
LABELS = {1: "reoffended", 0: "did not reoffend"}


def figure2_data(seed: int = 0) -> pd.DataFrame:
    """Return the change in counts by each feature, label and group.

    Parameters
    ----------
    seed
        Which split.

    Returns
    -------
    Columns: ``feature``, ``label``, ``level``, ``race``, ``sex``, ``people``, ``out``,
    ``into``, ``change``, and simultaneous limits of the change with Holm's p-values.
    """
    return flows_of(audit_of_split(seed))


def flows_of(result: AuditResult) -> pd.DataFrame:
    """Return the flows by all features that are not sensitive, in one table.

    Parameters
    ----------
    result
        An audit of COMPAS.
    """
    import pandas as pd

    tables = [result.flows(name).assign(feature=name) for name in SHOWN]
    joined: pd.DataFrame = pd.concat(tables, ignore_index=True)
    return joined[["feature", *(name for name in joined.columns if name != "feature")]]


def figure2_chart(data: pd.DataFrame) -> ChartType:
    """Draw the table: for each feature a heat map of each label.

    Parameters
    ----------
    data
        From `figure2_data`.
    """
    from fairtransport.report.charts import stacked_heatmaps

    def cells(part: pd.DataFrame) -> list[dict[str, object]]:
        """Return rows as the heat maps read them, labels in words."""
        rows = [
            {str(name): value for name, value in row.items()} for row in part.to_dict("records")
        ]
        return [
            {**row, "group": {name: row[name] for name in SENSITIVE}, "label": LABELS[row["label"]]}
            for row in rows
        ]

    features = data["feature"].unique()
    # those who reoffended stand on the left, as in the paper
    ordered = data.sort_values("label", ascending=False, kind="stable")
    tables = {name: cells(ordered[ordered["feature"] == name]) for name in features}
    return stacked_heatmaps(tables, label="true label")
