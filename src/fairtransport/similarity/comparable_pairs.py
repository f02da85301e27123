"""ComparablePairs (EXPLORE): a Mahalanobis distance from pairs that people judged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from fairtransport.checks import number, refuse_masked, shape_of, shown
from fairtransport.errors import DataError, InputError
from fairtransport.similarity.base import column_names
from fairtransport.similarity.encoding import fit_encoding
from fairtransport.similarity.learned import Learned, columns_to_fit
from fairtransport.space.columns import merge_columns
from fairtransport.space.reader import coded_columns, read_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import narwhals as nw
    from narwhals.typing import IntoDataFrame

    from fairtransport.checks import FloatArray

SUFFIXES = ("_1", "_2")
"""How the columns of a file of pairs end, for the first person and the second."""


@dataclass(eq=False)
class ComparablePairs(Learned):
    """The distance under which pairs were most likely judged as they were.

    Parameters
    ----------
    penalty
        The weight of the trace of Σ beside the mean log-likelihood. Without it Σ has no
        bound when the pairs can be told apart without error.
    features
        The columns that the distance is about; default: all of the data of `fit`. Sensitive
        columns of an audit that are not among them change for free.

    Attributes
    ----------
    sigma_
        (coordinates, coordinates) Σ, positive semidefinite.
    log_likelihood_
        The mean log-likelihood of the pairs under Σ.

    Raises
    ------
    InputError
        If a parameter breaks its rule.

    Notes
    -----
    EXPLORE of Mukherjee, Yurochkin, Banerjee and Sun (2020):

        P(comparable | x, x') = 2 / (1 + exp d²(x, x')),   d² = (z − z')' Σ (z − z'),

    so that equal people are comparable for sure. Σ = BB' is positive semidefinite by
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
    takes_new_levels: ClassVar[bool] = False

    penalty: float = 1e-3
    features: Sequence[str] | None = None
    sigma_: FloatArray = field(init=False, repr=False)
    log_likelihood_: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        number("penalty", self.penalty, at_least=0)
        if self.features is not None:
            column_names("features", self.features)

    def fit(self, X: object, y: object) -> Self:  # noqa: N803
        """Learn Σ from judged pairs.

        Parameters
        ----------
        X
            Two data frames with the same columns; row i of the first and row i of the second
            are a pair.
        y
            1 where a pair is comparable, 0 where it is not.

        Returns
        -------
        ComparablePairs
            The similarity itself.

        Raises
        ------
        InputError
            If the frames do not fit together, or a judgement is neither 0 nor 1.

        Examples
        --------
        >>> similarity.fit((first, second), judged).log_likelihood_ > -0.1
        True
        """
        if not isinstance(X, list | tuple) or len(X) != 2:  # noqa: PLR2004
            msg = f"`X` must be two data frames, the firsts and the seconds, got {shown(X)}"
            raise InputError(msg)
        first, second = (read_table(frame, "X") for frame in X)
        return self._fit(first, second, _judgements(y, len(first), len(second)))

    def _fit(
        self,
        first: nw.DataFrame[IntoDataFrame],
        second: nw.DataFrame[IntoDataFrame],
        comparable: FloatArray,
    ) -> Self:
        """Learn Σ from the firsts and the seconds of judged pairs.

        Parameters
        ----------
        first, second
            Frames of equal length; levels of both are encoded together.
        comparable
            1 where a pair is, 0 where it is not.
        """
        names = columns_to_fit(self.features, first.columns)
        here, there = coded_columns(first, names, "X"), coded_columns(second, names, "X")
        both = {name: merge_columns(here[name], there[name]) for name in names}
        encoding = fit_encoding(both)
        points = encoding.coordinates(both)
        differences = points[: len(first)] - points[len(first) :]
        _refuse_equal_but_apart(differences, comparable)
        self.encoding_ = encoding
        self.sigma_ = most_likely_sigma(differences, comparable, self.penalty)
        squared = np.einsum("ij,jk,ik->i", differences, self.sigma_, differences)
        self.log_likelihood_ = float(log_likelihood(squared, comparable).mean())
        self.matrix_ = square_root(self.sigma_)
        self._remember(both, are_a_sample=False)
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
            One probability a pair.

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
        # e⁷⁰⁰ is a number, and its inverse as good as 0
        return np.asarray(2 / (1 + np.exp(np.minimum(squared, 700.0))))

    @classmethod
    def split_settings(
        cls, settings: dict[str, object]
    ) -> tuple[dict[str, object], dict[str, object]]:
        """Set ``comparable`` apart, the column of the file that holds the judgements.

        Parameters
        ----------
        settings
            A table of settings.

        Returns
        -------
        tuple of dict
            Parameters, and the column of judgements.

        Examples
        --------
        >>> ft.similarity.ComparablePairs.split_settings({"penalty": 0.1, "comparable": "alike"})
        ({'penalty': 0.1}, {'comparable': 'alike'})
        """
        rest = {name: value for name, value in settings.items() if name != "comparable"}
        return rest, {"comparable": settings.get("comparable", "comparable")}

    def fit_file(self, path: Path, **words: object) -> Self:
        """Fit on a file of pairs: columns as ``age_1`` and ``age_2``, and one of judgements.

        Parameters
        ----------
        path
            CSV, Parquet or JSON lines.
        **words
            ``comparable``, the column that holds the judgements.

        Returns
        -------
        ComparablePairs
            The similarity itself.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> pairs = first.add_suffix("_1").join(second.add_suffix("_2")).assign(alike=judged)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     pairs.to_csv(Path(folder, "pairs.csv"), index=False)
        ...     read = ft.similarity.ComparablePairs(penalty=0.01)
        ...     read = read.fit_file(Path(folder, "pairs.csv"), comparable="alike")
        >>> read.sigma_.shape
        (2, 2)
        """
        import narwhals as nw

        frame = read_table(path, "fit")
        judged = words["comparable"]
        if judged not in frame.columns:
            msg = f"`comparable` must name a column of {path.name!r}, got {shown(judged)}"
            raise InputError(msg)
        halves = []
        for suffix in SUFFIXES:
            names = [name for name in frame.columns if name.endswith(suffix) and name != judged]
            halves.append(
                frame.select(nw.col(name).alias(name.removesuffix(suffix)) for name in names)
            )
        if set(halves[0].columns) != set(halves[1].columns):
            msg = (
                f"`fit` must be pairs, each column with {SUFFIXES[0]} and {SUFFIXES[1]}, "
                f"got {', '.join(frame.columns)}"
            )
            raise InputError(msg)
        comparable = _judgements(frame[judged].to_list(), len(frame), len(frame))
        return self._fit(halves[0], halves[1], comparable)

    def describe(self) -> str:
        """Return a plain sentence for the report.

        Returns
        -------
        str

        Examples
        --------
        >>> similarity.describe()
        'People are as far apart as pairs that were judged comparable or not make most likely, by
        height, grade: a squared distance d² goes with a probability of 2/(1 + exp d²) to be judged
        comparable.'
        """
        if not self.is_fitted:
            return "People are as far apart as judged pairs tell (not yet fitted)."
        return (
            f"People are as far apart as pairs that were judged comparable or not make most "
            f"likely, by {', '.join(self.encoding_.columns)}: a squared distance d² goes with a "
            "probability of 2/(1 + exp d²) to be judged comparable."
        )

    def describe_budget(self, budget: float) -> str:
        """Say what a budget means in probabilities to be judged comparable.

        Parameters
        ----------
        budget
            ε.

        Returns
        -------
        str

        Examples
        --------
        >>> similarity.describe_budget(0.1)
        'On average, people may be moved as far as people are apart who are judged comparable with
        probability 0.95.'
        """
        chance = 2 / (1 + np.exp(min(budget, 700.0)))
        return (
            f"On average, people may be moved as far as people are apart who are judged "
            f"comparable with probability {chance:.3g}."
        )

    def fitted(self) -> dict[str, object] | None:
        """Return encoding, matrix and the likelihood.

        Returns
        -------
        dict[str, object] | None

        Examples
        --------
        >>> sorted(similarity.fitted())
        ['data_sha256', 'encoding', 'log_likelihood', 'matrix']
        """
        document = super().fitted()
        if document is None:
            return None
        return {**document, "log_likelihood": self.log_likelihood_}


def log_likelihood(squared: FloatArray, comparable: FloatArray) -> FloatArray:
    """Return log P of each judgement at given squared distances.

    Parameters
    ----------
    squared
        d² of each pair, at least 0.
    comparable
        1 or 0.

    Notes
    -----
    P(yes) = 2/(1 + exp d²), so that P(no) = tanh(d²/2): equal people who were judged not to be
    comparable have probability 0.

    Examples
    --------
    >>> np.exp(log_likelihood(np.log([3.0, 3.0]), np.array([1.0, 0.0]))).round(6).tolist()
    [0.5, 0.5]
    """
    yes = np.log(2.0) - np.logaddexp(0.0, squared)
    # 1 − 2/(1 + e^t) = tanh(t/2)
    with np.errstate(divide="ignore"):
        no = np.log(np.tanh(squared / 2))
    return np.where(comparable > 0, yes, no)


def slope(squared: FloatArray, comparable: FloatArray) -> FloatArray:
    """Return the derivative of `log_likelihood` in the squared distance.

    Parameters
    ----------
    squared, comparable
        As in `log_likelihood`.

    Examples
    --------
    At d² = log 3, P(yes) = ½, and a little more distance speaks for "no".

    >>> slope(np.log([3.0, 3.0]), np.array([1.0, 0.0])).round(4).tolist()
    [-0.75, 0.75]
    """
    decay = np.exp(-squared)
    # d/dt log tanh(t/2) = 1/sinh t = 2e^{-t}/(1 − e^{-2t}), and d/dt log σ(−t) = −σ(t)
    with np.errstate(divide="ignore"):
        no = 2 * decay / -np.expm1(-2 * squared)
    return np.where(comparable > 0, -1 / (1 + decay), no)


def objective(
    factor: FloatArray, differences: FloatArray, comparable: FloatArray, penalty: float
) -> tuple[float, FloatArray]:
    """Return the negative penalised mean log-likelihood at Σ = BB', and its gradient in B.

    Parameters
    ----------
    factor
        B, flattened.
    differences
        (pairs, coordinates) z − z'.
    comparable
        1 or 0, pair by pair.
    penalty
        The weight of the trace of Σ, which is the sum of B's squares.
    """
    size = differences.shape[1]
    b = factor.reshape(size, size)
    moved = differences @ b
    # far from 0, where an overshooting step may land, the logarithm still must be a number
    squared = np.maximum((moved**2).sum(axis=1), 1e-300)
    value = -log_likelihood(squared, comparable).mean() + penalty * (b**2).sum()
    weight = slope(squared, comparable) / len(differences)
    gradient = -2 * differences.T @ (weight[:, None] * moved) + 2 * penalty * b
    return float(value), gradient.ravel()


def most_likely_sigma(
    differences: FloatArray, comparable: FloatArray, penalty: float
) -> FloatArray:
    """Return the Σ that maximises the penalised likelihood of judged differences.

    Parameters
    ----------
    differences, comparable, penalty
        As in `objective`.

    Notes
    -----
    The problem is concave in Σ, and with a square B every local maximum over B is a global one over
    all positive semidefinite Σ (Burer and Monteiro 2005).

    Examples
    --------
    People far apart in the first coordinate were judged apart, those in the second comparable:

    >>> differences = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.1], [0.1, 1.0]])
    >>> sigma = most_likely_sigma(differences, np.array([0.0, 1.0, 0.0, 1.0]), 1e-3)
    >>> bool(sigma[0, 0] > 10 * sigma[1, 1])
    True
    """
    from scipy.optimize import minimize

    size = differences.shape[1]
    # judgements that are all alike would start at distance 0 or infinity
    share = min(max(float(comparable.mean()), 0.01), 0.99)
    length = float((differences**2).sum(axis=1).mean()) or 1.0
    # the best multiple of the identity if all pairs were equally long
    start = np.sqrt(np.log(2 / share - 1) / length) * np.eye(size)
    found = minimize(
        objective, start.ravel(), (differences, comparable, penalty), jac=True,
        method="L-BFGS-B", options={"maxiter": 10_000, "maxfun": 100_000, "ftol": 1e-14,
                                    "gtol": 1e-9},
    )  # fmt: skip
    b = found.x.reshape(size, size)
    return np.asarray(b @ b.T)


def square_root(sigma: FloatArray) -> FloatArray:
    """Return the matrix A of few columns with AA' = Σ.

    Parameters
    ----------
    sigma
        Positive semidefinite; directions of next to no weight are left out.

    Examples
    --------
    >>> root = square_root(np.diag([4.0, 0.0]))
    >>> root.shape, np.abs(root).tolist()
    ((2, 1), [[2.0], [0.0]])
    """
    values, vectors = np.linalg.eigh(sigma)
    # directions that Σ does not count are left out: points get as few coordinates as there are
    kept = values > 1e-12 * max(float(values.max()), np.finfo(float).tiny)
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


def _judgements(y: object, first: int, second: int) -> FloatArray:
    """Return judgements as 1.0 and 0.0, one a pair.

    Raises
    ------
    InputError
        If the frames have unequal lengths, or a judgement is neither 0 nor 1.

    Examples
    --------
    >>> _judgements([True, False], 2, 2).tolist()
    [1.0, 0.0]
    """
    if first != second:
        msg = f"`X` must be two data frames of equal length, got {first} and {second} rows"
        raise InputError(msg)
    refuse_masked("y", y)
    if shape_of(y) != (first,) or not np.isin(np.asarray(y), (0, 1)).all():
        msg = f"`y` must be 0 or 1 for each of the {first} pairs, got {shown(y)}"
        raise InputError(msg)
    return np.asarray(y).astype(np.float64)


def _refuse_equal_but_apart(differences: FloatArray, comparable: FloatArray) -> None:
    """Refuse equal people who were judged not to be comparable: that has probability 0."""
    odd = int(((differences == 0).all(axis=1) & (comparable == 0)).sum())
    if odd:
        msg = f"pairs of equal people must be comparable, but {odd} are judged not to be"
        raise DataError(msg)
