"""MLflow's protocol: a table goes to /invocations, predictions come back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtransport.access.casting import plain_column
from fairtransport.access.endpoints.endpoint import Endpoint
from fairtransport.checks import shown
from fairtransport.errors import ModelError

if TYPE_CHECKING:
    import pandas as pd

    from fairtransport.losses import Answer

PATH = "/invocations"


@dataclass(frozen=True, eq=False)
class Invocations(Endpoint):
    """A model that MLflow serves; it answers with whatever its ``predict`` returns."""

    @property
    def protocol(self) -> str:
        """What the endpoint speaks."""
        return "MLflow"

    def ask(self, points: pd.DataFrame, kind: Answer) -> list[object]:
        """Return the answers to one batch.

        Parameters
        ----------
        points
            Sent as ``dataframe_split``, missing values as null.
        kind
            What the loss needs; the protocol cannot say so, so that only what comes back is looked
            at.

        Raises
        ------
        ModelError
            If no list comes back, or labels where scores are needed.
        """
        columns = [plain_column(points, name) for name in points.columns]
        rows = [list(row) for row in zip(*columns, strict=True)]
        table = {"columns": list(points.columns), "data": rows}
        document = self.client.post(self.client.address.path, {"dataframe_split": table})
        said = document.get("predictions") if isinstance(document, dict) else None
        if not isinstance(said, list):
            raise self.refuse(kind, document)
        answers = [_only_value(one) for one in said]
        if kind == "score" and _are_labels(answers):
            # whole numbers would pass for the scores 0 and 1
            hint = "a label; models logged with pyfunc_predict_fn='predict_proba' give scores"
            msg = f"{self.client} must give scores, got {shown(answers[0], 20)}, {hint}"
            raise ModelError(msg)
        return answers


def _only_value(said: object) -> object:
    """Return what a prediction with a single name says.

    Parameters
    ----------
    said
        A value, or a record of named ones.

    Examples
    --------
    >>> _only_value({"prediction": 1}), _only_value(1), _only_value({"a": 1, "b": 2})
    (1, 1, {'a': 1, 'b': 2})
    """
    return next(iter(said.values())) if isinstance(said, dict) and len(said) == 1 else said


def _are_labels(answers: list[object]) -> bool:
    """Say whether no answer is a number with a fraction or a row of them.

    Examples
    --------
    >>> _are_labels([1, "no"]), _are_labels([0.5, 1])
    (True, False)
    """
    return all(not isinstance(one, float | list) for one in answers)
