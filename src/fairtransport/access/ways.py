"""How predictions are had: from a black box that is asked, or given with the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairtransport.access.boxes import BlackBox, as_black_box, described
from fairtransport.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport.losses import Loss


@dataclass(frozen=True, eq=False)
class Access:
    """How predictions are had.

    ``parameter`` is the name of the argument they came in.
    """

    parameter: str
    box: BlackBox | None = None
    given: Any = None

    @property
    def name(self) -> str:
        """How a report names what was audited."""
        if self.box is None:
            return "given predictions"
        return str(getattr(self.box, "description", self.box.name))

    @property
    def who(self) -> str:
        """How a message names where answers come from."""
        return f"`{self.parameter}`" if self.box is None else f"the model {self.box.name}"

    @property
    def features(self) -> tuple[str, ...] | None:
        """The columns the model asks for by name."""
        return None if self.box is None else self.box.features

    @property
    def classes(self) -> Sequence[Any] | None:
        """The labels the model knows; None if it does not say or there is none."""
        return None if self.box is None else self.box.classes


def choose_access(model: Any, y_pred: Any, y_score: Any, loss: Loss) -> Access:
    """Return the one way of access a user gave, if the loss can be computed from it."""
    ways = {"model": model, "y_pred": y_pred, "y_score": y_score}
    given = [name for name, value in ways.items() if value is not None]
    if len(given) != 1:
        got = " and ".join(f"`{name}`" for name in given) or "none"
        msg = f"exactly one of `model`, `y_pred` and `y_score` must be given, got {got}"
        raise InputError(msg)
    (parameter,) = given
    if parameter == "model":
        return Access(parameter, box=described(as_black_box(model)))
    if loss.needs == "label" and parameter == "y_score":
        msg = f"the loss {loss.name!r} needs labels: threshold the scores and pass `y_pred`"
        raise InputError(msg)
    if loss.needs == "score" and parameter == "y_pred":
        msg = f"the loss {loss.name!r} needs class scores: pass `y_score` instead of `y_pred`"
        raise InputError(msg)
    return Access(parameter, given=ways[parameter])
