"""What all endpoints share: points cut into batches, asked several at a time, put together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from fairtransport.access.endpoints.arriving import as_they_arrive
from fairtransport.checks import shown
from fairtransport.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pandas as pd

    from fairtransport.access.endpoints.client import Client
    from fairtransport.losses import Answer
    from fairtransport.space.columns import Value

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Endpoint(ABC):
    """A model behind an address.

    Attributes
    ----------
    client
        Asks it.
    features, classes
        Its columns in its order and the labels in the order of its scores; None: not known.
    library
        Always pandas: points have to become JSON.

    Notes
    -----
    A new protocol is a subclass with `protocol` and `ask`; batches, parallel requests, retries, the
    query log and every check are the same for all.
    """

    client: Client
    features: tuple[str, ...] | None = None
    classes: Sequence[Value] | None = None
    library: str | None = field(default="pandas", init=False)

    @property
    @abstractmethod
    def protocol(self) -> str:
        """What the endpoint speaks."""

    @abstractmethod
    def ask(self, points: pd.DataFrame, kind: Answer) -> list[object]:
        """Return the answers to one batch, one a point.

        Parameters
        ----------
        points
            At most `batch_size` of them.
        kind
            What the loss needs.
        """

    @property
    def name(self) -> str:
        """The address."""
        return str(self.client.address)

    @property
    def description(self) -> str:
        """What it speaks and where it is."""
        return f"{self.protocol} endpoint at {self.client.address}"

    @property
    def identity(self) -> str:
        """What tells this model from others, as far as the endpoint says."""
        return f"{self.protocol} {self.client.address}"

    @property
    def batch_size(self) -> int:
        """How many points go into one request."""
        return self.client.limits.batch_size

    @property
    def batches(self) -> int:
        """How many points are best asked about at once."""
        return self.batch_size * self.client.limits.at_a_time

    def arriving(
        self, points: pd.DataFrame, kind: Answer, read: Callable[[list[object], int], T]
    ) -> Iterator[tuple[range, T]]:
        """Yield what is read of the answers to some points after the other, as they arrive.

        Parameters
        ----------
        points, kind
            What is asked about, and what for.
        read
            Makes something of a batch's answers, given their number; what it refuses is a failure.
        """
        parts = [
            range(at, min(at + self.batch_size, len(points)))
            for at in range(0, len(points), self.batch_size)
        ]

        def asked(part: range) -> T:
            """Return what is read of one batch's answers, of which there must be one a point."""
            answers = self.ask(points.iloc[part.start : part.stop], kind)
            if len(answers) != len(part):
                msg = (
                    f"{self.client} must give one answer a point ({len(part)}), got {len(answers)}"
                )
                raise ModelError(msg)
            return read(answers, len(part))

        for at, answers in as_they_arrive(asked, parts, self.client.limits.at_a_time):
            yield parts[at], answers

    def answer(self, points: pd.DataFrame, kind: Answer) -> list[object]:
        """Return the answers to all points, in their order.

        Parameters
        ----------
        points, kind
            What is asked about, and what for.
        """
        said: list[object] = [None] * len(points)
        for part, answers in self.arriving(points, kind, lambda answers, _: answers):
            said[part.start : part.stop] = answers
        return said

    def refuse(self, kind: Answer, got: object) -> ModelError:
        """Return what to raise where something else comes back than was asked for.

        Parameters
        ----------
        kind, got
            What was asked for, and what came.
        """
        return ModelError(f"{self.client} must give {kind}s, got {shown(got)}")
