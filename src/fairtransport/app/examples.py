"""Audits to look at, of data that come with the package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.app.form import LABEL, PREDICTION, SENSITIVE, UNUSED
from fairtransport.app.tables import Table
from fairtransport.app.uploads import Upload
from fairtransport.datasets import compas

if TYPE_CHECKING:
    from pathlib import Path

SEED = 0
EXAMPLES = {
    "compas-model": "COMPAS and a logistic regression: 1,584 people it was not trained on; the "
    "model is asked about each of them and their twins.",
    "compas-scores": "COMPAS and its own scores: the same people, with what the commercial system "
    "predicted for them.",
}
"""The examples, in words."""
KEPT = "example"


def example(name: str, folder: Path) -> Table:
    """Write the files of an example, and say what their columns are."""
    split = compas.split_compas(SEED)
    path = folder / "compas.csv"
    split.audit.to_csv(path, index=False)
    table = Table(path, path.name, is_ours=True)
    asked = {compas.LABEL: LABEL, **dict.fromkeys(compas.SENSITIVE, SENSITIVE)}
    typed = {
        "delta": f"{compas.DELTA}", "rng": f"{SEED}", "favourable": "0",
        "data_name": "COMPAS, the people whom the model was not trained on",
    }  # fmt: skip
    if name == "compas-model":
        import joblib

        model = folder / "compas.joblib"
        joblib.dump(compas.logistic_regression(split.training), model)
        table.models[KEPT] = Upload(model, model.name)
        asked["high_risk"] = UNUSED
        typed |= {"answers": "model", "kept_model": KEPT, "allow_pickle": "on"}
    else:
        asked["high_risk"] = PREDICTION
        typed |= {"answers": "column"}
    for at, column in enumerate(table.columns):
        if column.name in asked:
            typed[f"role.{at}"] = asked[column.name]
        if column.name == "race":
            typed[f"privileged.{at}"] = "Caucasian"
    table.typed = typed
    return table
