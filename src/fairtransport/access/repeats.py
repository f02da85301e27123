"""Repeated questions, which show whether answers differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.access.answers import ask
from fairtransport.access.black_box import Estimator, check_box, layers
from fairtransport.access.cache import CachedModel
from fairtransport.access.query_log import Recorded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from narwhals.typing import IntoDataFrame

    from fairtransport.access.black_box import BlackBox


DEFAULT_REPEATS = 20
"""Default number of repeated questions."""
TOLERANCE = 1e-6
"""Tolerance of repeated scores: sums depend on the size of the batch."""


@dataclass(frozen=True)
class Repeats:
    """Number of repeated questions, and of those that got another answer.

    For a model in this process agreement is expected, and not ``is_notable``.
    """

    count: int = 0
    differed: int = 0
    contradictions: int = 0
    is_notable: bool = True


def count_contradictions(box: BlackBox, points: IntoDataFrame) -> int:
    """Count the points where an estimator's label does not have its largest score."""
    model = next((layer for layer in layers(box) if isinstance(layer, Estimator)), None)
    if model is None:
        return 0
    try:
        classes = model.classes
        has_both = all(hasattr(model.model, name) for name in ("predict", "predict_proba"))
        if classes is None or not has_both:
            return 0
        labels, scores = (
            ask(model, points, len(points), kind, classes, None) for kind in ("label", "score")
        )
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - the audit needs one of the two alone
        return 0
    own = scores[np.arange(len(labels)), [classes.index(label) for label in labels.tolist()]]
    return int(np.sum(own < scores.max(axis=1) - TOLERANCE))


def count_repeats(box: BlackBox | None, repeats: int | None, limit: int | None = None) -> int:
    """Return how many questions to repeat: at most a third of the limit on questions.

    None of a log, which has no model, or of a model that answers at random.
    """
    if box is None or box.answers_at_random:
        return 0
    if any(isinstance(layer, Recorded) for layer in layers(box)):
        return 0
    count = DEFAULT_REPEATS if repeats is None else repeats
    return count if limit is None else min(count, limit // 3)


def split_repeats(box: BlackBox, places: Sequence[int]) -> list[Sequence[int]]:
    """Return batches of 2 to 4 repeated questions.

    In a small batch, an answer that depends on the rest of its batch is most likely to differ. Some
    models answer a single row in another shape.
    """
    if box.points_per_call == 1:
        return [places]
    starts = range(0, max(1, len(places) - 1), 3)
    ends = [*starts[1:], len(places)]
    return [places[start:end] for start, end in zip(starts, ends, strict=True)]


def second_box(box: BlackBox) -> BlackBox:
    """Return the box for repeated questions: a cached model has a second cache."""
    cached = next((layer for layer in layers(box) if isinstance(layer, CachedModel)), None)
    return box if cached is None else check_box(cached.second)


def same_answer(before: object, now: object) -> bool:
    """Return whether two answers are the same up to rounding."""
    if isinstance(before, float | list) and isinstance(now, float | list):
        return np.shape(before) == np.shape(now) and np.allclose(
            before, now, rtol=TOLERANCE, atol=TOLERANCE
        )
    return bool(before == now)
