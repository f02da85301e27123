"""ComparablePairs (EXPLORE): a Mahalanobis distance learned from judged pairs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from fairtransport._core.validation import check_number, check_unmasked, shape_of, short_repr
from fairtransport.data.columns import merge_columns
from fairtransport.data.sources import encode_columns, read_table
from fairtransport.errors import DataError, InputError, param
from fairtransport.similarity.base import check_column_names
from fairtransport.similarity.encoding import fit_encoding
from fairtransport.similarity.learned import LearnedSimilarity, select_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import narwhals as nw
    from narwhals.typing import IntoDataFrame

    from fairtransport._core.validation import FloatArray

SUFFIXES = ("_1", "_2")
"""Suffixes of the columns of a file of pairs, for the first and second person."""


@dataclass(eq=False)
class ComparablePairs(LearnedSimilarity):
    """Maximum likelihood distance for pairs that were judged comparable or not.

    Parameters
    ----------
    penalty
        Weight of the trace of Σ relative to the mean log-likelihood. Without it Σ is unbounded
        if the pairs can be separated without error.
    features
        Columns of the distance; default: all columns of the data of `fit`. Other sensitive columns
        of an audit change for free.

    Attributes
    ----------
    sigma_
        (coordinates, coordinates) Σ, positive semidefinite.
    log_likelihood_
        The mean log-likelihood of the pairs under Σ.

    Raises
    ------
    InputError
        If a parameter is invalid.

    Notes
    -----
    EXPLORE of Mukherjee, Yurochkin, Banerjee and Sun (2020):

        P(comparable | x, x') = 2 / (1 + exp d²(x, x')),   d² = (z − z')' Σ (z − z'),

    so that equal people are comparable with probability 1. Σ = BB' is positive semidefinite by
    construction, with B square; the likelihood is concave in Σ and is maximised over B by
    L-BFGS.

    Examples
    --------
    Pairs were judged comparable whenever their grades agree.

    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> first = pd.DataFrame({"height": [1.0, 2, 3, 4] * 5, "grade": [1.0, 1, 2, 2] * 5})
    >>> second = pd.DataFrame({"height": [4.0, 3, 2, 1] * 5, "grade": [1.0, 2, 1, 2] * 5})
    >>> judged = (first["grade"] == second["grade"]).astype(int)
    >>> similarity = ft.similarity.ComparablePairs(penalty=0.01).fit((first, second), judged)
    >>> height, grade = similarity.sigma_.diagonal()
    >>> bool(grade > 100 * height)
    True
    """

    name: ClassVar[str] = "comparable-pairs"
    accepts_new_levels: ClassVar[bool] = False

    penalty: float = 1e-3
    features: Sequence[str] | None = None
    sigma_: FloatArray = field(init=False, repr=False)
    log_likelihood_: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_number("penalty", self.penalty, at_least=0)
        if self.features is not None:
            check_column_names("features", self.features)

    def fit(self, X: object, y: object) -> Self:  # noqa: N803
        """Learn Σ from judged pairs.

        Parameters
        ----------
        X
            Two data frames with the same columns; their rows i are a pair.
        y
            1 if a pair is comparable, 0 if not.

        Returns
        -------
        ComparablePairs
            The similarity itself.

        Raises
        ------
        InputError
            If the frames do not match, or a judgement is neither 0 nor 1.

        Examples
        --------
        >>> similarity.fit((first, second), judged).log_likelihood_ > -0.1
        True
        """
        if not isinstance(X, list | tuple) or len(X) != 2:  # noqa: PLR2004
            msg = (
                f"{param('X')} must be two data frames, the firsts and the seconds, got "
                f"{short_repr(X)}"
            )
            raise InputError(msg)
        first, second = (read_table(frame, "X") for frame in X)
        return self._fit(first, second, _check_judgements(y, len(first), len(second)))

    def _fit(
        self,
        first: nw.DataFrame[IntoDataFrame],
        second: nw.DataFrame[IntoDataFrame],
        comparable: FloatArray,
    ) -> Self:
        """Learn Σ from the first and second people of judged pairs."""
        names = select_columns(self.features, first.columns)
        here, there = encode_columns(first, names, "X"), encode_columns(second, names, "X")
        both = {name: merge_columns(here[name], there[name]) for name in names}
        encoding = fit_encoding(both)
        points = encoding.coordinates(both)
        differences = points[: len(first)] - points[len(first) :]
        _check_equal_pairs(differences, comparable)
        self.encoding_ = encoding
        self.sigma_ = fit_sigma(differences, comparable, self.penalty)
        squared = np.einsum("ij,jk,ik->i", differences, self.sigma_, differences)
        self.log_likelihood_ = float(log_likelihood(squared, comparable).mean())
        self.matrix_ = square_root(self.sigma_)
        self._store_fit_data(both, is_sample=False)
        return self

    def probability(self, X: Iterable[object]) -> FloatArray:  # noqa: N803
        """Return the probability that pairs are judged comparable; ``X`` as in `fit`.

        Parameters
        ----------
        X
            Two data frames with the columns of `fit`.

        Returns
        -------
        ndarray of float
            One probability per pair.

        Raises
        ------
        InputError
            If `fit` was not called.

        Examples
        --------
        >>> similarity.probability((first[:2], second[:2])).round(1).tolist()
        [1.0, 0.0]
        """
        self.check_fitted()
        first, second = (self.transform(frame) for frame in X)
        squared = ((first - second) ** 2).sum(axis=1)
        # e⁷⁰⁰ is finite, and its inverse is practically 0
        return np.asarray(2 / (1 + np.exp(np.minimum(squared, 700.0))))

    @classmethod
    def split_settings(
        cls, settings: dict[str, object]
    ) -> tuple[dict[str, object], dict[str, object]]:
        """Split off ``comparable``, the column that holds the judgements."""
        rest = {name: value for name, value in settings.items() if name != "comparable"}
        return rest, {"comparable": settings.get("comparable", "comparable")}

    def fit_file(self, path: Path, **words: object) -> Self:
        """Fit on a file of pairs: columns such as ``age_1`` and ``age_2``, and the judgements."""
        import narwhals as nw

        frame = read_table(path, "fit")
        judgement_column = words["comparable"]
        if judgement_column not in frame.columns:
            msg = (
                f"{param('comparable')} must name a column of {path.name!r}, got "
                f"{short_repr(judgement_column)}"
            )
            raise InputError(msg)
        halves = []
        for suffix in SUFFIXES:
            names = [
                name for name in frame.columns if name.endswith(suffix) and name != judgement_column
            ]
            halves.append(
                frame.select(nw.col(name).alias(name.removesuffix(suffix)) for name in names)
            )
        if set(halves[0].columns) != set(halves[1].columns):
            msg = (
                f"{param('fit')} must be pairs, each column with {SUFFIXES[0]} and {SUFFIXES[1]}, "
                f"got {', '.join(frame.columns)}"
            )
            raise InputError(msg)
        comparable = _check_judgements(frame[judgement_column].to_list(), len(frame), len(frame))
        return self._fit(halves[0], halves[1], comparable)

    def describe(self) -> str:
        """Return one sentence for the report."""
        if not self.is_fitted:
            return "Distances are learned from judged pairs (not yet fitted)."
        return (
            "Distances are learned from pairs that were judged comparable or not, by "
            f"{', '.join(self.encoding_.columns)}: a pair at the squared distance d² is judged "
            "comparable with a probability of 2/(1 + exp d²)."
        )

    def describe_budget(self, budget: float) -> str:
        """Return the meaning of a budget as a probability of being judged comparable."""
        chance = 2 / (1 + np.exp(min(budget, 700.0)))
        return (
            "On average, people may be as far from those they are compared with as pairs that are "
            f"judged comparable with probability {chance:.3g}."
        )

    def fitted(self) -> dict[str, object] | None:
        """Return encoding, matrix and log-likelihood; None before `fit`."""
        document = super().fitted()
        if document is None:
            return None
        return {**document, "log_likelihood": self.log_likelihood_}


def log_likelihood(squared: FloatArray, comparable: FloatArray) -> FloatArray:
    """Return the log-likelihood of each judgement at its squared distance.

    P(yes) = 2/(1 + exp d²), so that P(no) = tanh(d²/2): equal people who were judged not to be
    comparable have probability 0.
    """
    yes = np.log(2.0) - np.logaddexp(0.0, squared)
    # 1 − 2/(1 + e^t) = tanh(t/2)
    with np.errstate(divide="ignore"):
        no = np.log(np.tanh(squared / 2))
    return np.where(comparable > 0, yes, no)


def slope(squared: FloatArray, comparable: FloatArray) -> FloatArray:
    """Return the derivative of `log_likelihood` in the squared distance."""
    decay = np.exp(-squared)
    # d/dt log tanh(t/2) = 1/sinh t = 2e^{-t}/(1 − e^{-2t}), and d/dt log σ(−t) = −σ(t)
    with np.errstate(divide="ignore"):
        no = 2 * decay / -np.expm1(-2 * squared)
    return np.where(comparable > 0, -1 / (1 + decay), no)


def objective(
    factor: FloatArray, differences: FloatArray, comparable: FloatArray, penalty: float
) -> tuple[float, FloatArray]:
    """Return the negative penalised mean log-likelihood at Σ = BB', and its gradient in B."""
    size = differences.shape[1]
    b = factor.reshape(size, size)
    images = differences @ b
    # keeps the logarithm finite if a step lands on distance 0
    squared = np.maximum((images**2).sum(axis=1), 1e-300)
    value = -log_likelihood(squared, comparable).mean() + penalty * (b**2).sum()
    weight = slope(squared, comparable) / len(differences)
    gradient = -2 * differences.T @ (weight[:, None] * images) + 2 * penalty * b
    return float(value), gradient.ravel()


def fit_sigma(differences: FloatArray, comparable: FloatArray, penalty: float) -> FloatArray:
    """Return the Σ that maximises the penalised likelihood of judged differences.

    The problem is concave in Σ, and with a square B every local maximum over B is a global one over
    all positive semidefinite Σ (Burer and Monteiro 2005).
    """
    from scipy.optimize import minimize

    size = differences.shape[1]
    # if all judgements were equal, the start would be at distance 0 or infinity
    share = min(max(float(comparable.mean()), 0.01), 0.99)
    length = float((differences**2).sum(axis=1).mean()) or 1.0
    # optimal multiple of the identity if all differences had the same length
    start = np.sqrt(np.log(2 / share - 1) / length) * np.eye(size)
    optimum = minimize(
        objective, start.ravel(), (differences, comparable, penalty), jac=True,
        method="L-BFGS-B", options={"maxiter": 10_000, "maxfun": 100_000, "ftol": 1e-14,
                                    "gtol": 1e-9},
    )  # fmt: skip
    b = optimum.x.reshape(size, size)
    return np.asarray(b @ b.T)


def square_root(sigma: FloatArray) -> FloatArray:
    """Return the matrix A with AA' = Σ and as few columns as possible."""
    values, vectors = np.linalg.eigh(sigma)
    # directions with eigenvalue 0 are dropped, for fewer coordinates
    positive = values > 1e-12 * max(float(values.max()), np.finfo(float).tiny)
    return np.asarray(vectors[:, positive] * np.sqrt(values[positive]))


def _check_judgements(y: object, first: int, second: int) -> FloatArray:
    """Check judgements and return them as 1.0 and 0.0."""
    if first != second:
        msg = f"{param('X')} must be two data frames of equal length, got {first} and {second} rows"
        raise InputError(msg)
    check_unmasked("y", y)
    if shape_of(y) != (first,) or not np.isin(np.asarray(y), (0, 1)).all():
        msg = f"{param('y')} must be 0 or 1 for each of the {first} pairs, got {short_repr(y)}"
        raise InputError(msg)
    return np.asarray(y).astype(np.float64)


def _check_equal_pairs(differences: FloatArray, comparable: FloatArray) -> None:
    """Check that equal people are judged comparable: otherwise the likelihood is 0."""
    odd = int(((differences == 0).all(axis=1) & (comparable == 0)).sum())
    if odd:
        msg = f"pairs of equal people must be comparable, but {odd} are judged not to be"
        raise DataError(msg)
