"""A black box inside another one, which says of itself what the inner one says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from fairtransport.access.boxes import Described, batches_of, identity_of, notes_on

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from narwhals.typing import IntoDataFrame

    from fairtransport.access.boxes import BlackBox
    from fairtransport.losses import Answer
    from fairtransport.space.columns import Value, Values

T = TypeVar("T")


class Arriving(Protocol):
    """How a box gives its answers some after the other, as they come.

    It yields which of the points were answered, and what ``read`` makes of the answers and of
    their number. What ``read`` refuses is a failure as any other: nothing more is asked, what
    is under way still comes, and then the error.
    """

    def __call__(
        self, points: Any, kind: Answer, read: Callable[[object, int], T]
    ) -> Iterator[tuple[Sequence[int], T]]:
        """Yield places and answers."""
        ...


@dataclass(frozen=True, eq=False)
class Wrapped:
    """Passes everything on to the box inside.

    Attributes
    ----------
    box
        The box inside; a subclass changes what it has to and no more.
    """

    box: BlackBox

    @property
    def name(self) -> str:
        """How a report names the model."""
        return self.box.name

    @property
    def description(self) -> str:
        """How a report describes the model."""
        return str(getattr(self.box, "description", self.box.name))

    @property
    def identity(self) -> str | None:
        """What tells the model from others."""
        return identity_of(self.box)

    @property
    def batches(self) -> int | None:
        """How many points it is best asked about at once."""
        return batches_of(self.box)

    def notes_on(self, predictions: Values, classes: Sequence[Value]) -> tuple[str, ...]:
        """Return what readers of the answers should know.

        Parameters
        ----------
        predictions, classes
            What it answered, and the labels that can occur.
        """
        return notes_on(self.box, predictions, classes)

    @property
    def library(self) -> str | None:
        """The data frame library that the model wants its points in."""
        return self.box.library

    @property
    def features(self) -> tuple[str, ...] | None:
        """The columns that the model wants."""
        return self.box.features

    @property
    def classes(self) -> Sequence[Value] | None:
        """The labels that the model knows."""
        return self.box.classes

    def answer(self, points: IntoDataFrame, kind: Answer) -> object:
        """Return what the model returns.

        Parameters
        ----------
        points, kind
            As in `BlackBox.answer`.
        """
        return self.box.answer(points, kind)


def arriving_of(box: object) -> Arriving | None:
    """Return how a box gives its answers as they come; None where they come all at once.

    Looked through is what passes everything on, and nothing else.

    Parameters
    ----------
    box
        The outermost box.
    """
    inner = box
    while isinstance(inner, Wrapped | Described):
        inner = inner.box
    return getattr(inner, "arriving", None)


def answers_at_random(box: object) -> bool | None:
    """Return whether a box says that its answers are random, or fixed; None: it says neither.

    Parameters
    ----------
    box
        The outermost box; the first one that says something is believed.
    """
    told = (getattr(one, "answers_at_random", None) for one in layers(box))
    return next((bool(one) for one in told if one is not None), None)


def layers(box: object) -> Iterator[object]:
    """Yield a black box and those inside it, from the outside in.

    Parameters
    ----------
    box
        The outermost box; None has no layers.

    Examples
    --------
    >>> class Outer:
    ...     box = "the model itself"
    >>> [type(one).__name__ for one in layers(Outer())]
    ['Outer', 'str']
    """
    inner: object = box
    while inner is not None:
        yield inner
        inner = getattr(inner, "box", None)
