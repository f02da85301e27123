"""The entries: R of one sensitive feature, of each with the others held fixed, of outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np

from fairtransport.checks import choice, float_array, generator, number, shown, whole
from fairtransport.errors import InputError
from fairtransport.inference.rates.lower_bound import RateLaw
from fairtransport.inference.rates.tables import Columns, as_list, rate_table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ORDERS, FEWER_ORDERS, MANY = 64, 16, 100_000
"""Random orders, unless told: fewer for many people, as what an order comes to varies less."""
TOWARDS = ("best", "worst")


def rate_law(
    blocks: Columns,
    groups: Columns,
    losses: ArrayLike,
    *,
    counts: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    loss_range: tuple[float, float] = (0.0, 1.0),
    alpha: float = 0.05,
    orders: int | None = None,
    rng: int | np.random.Generator | None = None,
) -> RateLaw:
    """Return what a sample says about R, the rise of the mean loss by groups among people alike.

    Parameters
    ----------
    blocks
        The columns that people are alike in, one or a list; with the outcome, if the loss needs
        it, and with other sensitive features that are to be held fixed.
    groups
        The sensitive feature, or a list of several whose combinations are the groups.
    losses
        The loss of each row, as 1 for an error and 0 for none.
    counts
        How many people each row stands for; one if left out.
    strata
        A column, as the outcome, inside which a group's disadvantage is thought to have one
        sign. It guides the bets and the permutation test; no promise depends on it.
    loss_range
        The least and the largest loss there can be, known before the data.
    alpha
        The level that stakes are chosen for.
    orders
        Random orders in which people are unsealed; more make results move less with the seed.
        64 if left out, 16 for more than 100 000 people.
    rng
        A seed or a generator.

    Returns
    -------
    RateLaw
        Bounds, p-values, and the result in words.

    Raises
    ------
    InputError
        If columns differ in length, losses leave the range, or a setting breaks its rule.

    Examples
    --------
    >>> import numpy as np
    >>> import fairtransport as ft
    >>> rng = np.random.default_rng(1)
    >>> age, group = rng.integers(0, 5, 2000), rng.integers(0, 2, 2000)
    >>> errors = rng.random(2000) < 0.2 + 0.2 * group
    >>> law = ft.inference.rate_law(age, group, errors, rng=0)
    >>> 0.04 < law.lower_bound() < 0.1 < law.plug_in + 0.02
    True
    """
    level = number("alpha", alpha, above=0, below=1)
    if orders is not None:
        whole("orders", orders, at_least=1, at_most=10_000)
    random = generator("rng", rng)
    table = rate_table(blocks, groups, losses, counts=counts, strata=strata, loss_range=loss_range)
    if table.groups == 1:
        msg = "`groups` must have two values or more, got one"
        raise InputError(msg)
    many = (ORDERS if table.n <= MANY else FEWER_ORDERS) if orders is None else int(orders)
    return RateLaw(table, level, many, int(random.integers(2**63)))


def rate_laws(
    blocks: Columns,
    sensitive: Mapping[str, ArrayLike],
    losses: ArrayLike,
    *,
    counts: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    loss_range: tuple[float, float] = (0.0, 1.0),
    alpha: float = 0.05,
    orders: int | None = None,
    rng: int | np.random.Generator | None = None,
) -> dict[str, RateLaw]:
    """Return what a sample says about R of each sensitive feature, the others held fixed.

    ``sensitive`` maps names to columns; the other parameters are those of `rate_law`. Each
    bound has level α on its own: for all m of them together, ask for level α/m.

    Parameters
    ----------
    blocks, losses, counts, strata, loss_range, alpha, orders, rng
        As for `rate_law`.
    sensitive
        The sensitive features, by name.

    Returns
    -------
    dict[str, RateLaw]
        By name; a feature's groups are compared inside blocks in which the others agree too.

    Raises
    ------
    InputError
        As for `rate_law`.

    Examples
    --------
    >>> import numpy as np
    >>> import fairtransport as ft
    >>> rng = np.random.default_rng(1)
    >>> age, sex, race = (rng.integers(0, 2, 1000) for _ in range(3))
    >>> errors = rng.random(1000) < 0.2 + 0.3 * sex
    >>> laws = ft.inference.rate_laws(age, {"sex": sex, "race": race}, errors, rng=0)
    >>> {name: law.lower_bound() > 0.05 for name, law in laws.items()}
    {'sex': True, 'race': False}
    """
    if not isinstance(sensitive, Mapping) or not sensitive:
        msg = f"`sensitive` must map names of features to columns, got {shown(sensitive)}"
        raise InputError(msg)
    streams = generator("rng", rng).spawn(len(sensitive))
    alike = as_list("blocks", blocks, len(float_array("losses", losses, (None,))))
    return {
        name: rate_law(
            [*alike, *(other for key, other in sensitive.items() if key != name)], column, losses,
            counts=counts, strata=strata, loss_range=loss_range, alpha=alpha, orders=orders,
            rng=stream,
        )
        for (name, column), stream in zip(sensitive.items(), streams, strict=True)
    }  # fmt: skip


def outcome_rate_law(
    blocks: Columns,
    groups: Columns,
    favourable: ArrayLike,
    *,
    towards: Literal["best", "worst"] = "best",
    counts: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    alpha: float = 0.05,
    orders: int | None = None,
    rng: int | np.random.Generator | None = None,
) -> RateLaw:
    """Return what a sample says about R of outcomes: 1 for a favourable decision, 0 for none.

    With ``towards="best"`` R is the rise of the rate of favourable decisions if everybody were
    treated as the best-treated group among those alike; with ``"worst"`` its fall if everybody
    were treated as the worst-treated one. The other parameters are those of `rate_law`.

    Parameters
    ----------
    blocks, groups, counts, strata, alpha, orders, rng
        As for `rate_law`.
    favourable
        1 for a favourable decision, 0 for none.
    towards
        "best" or "worst".

    Returns
    -------
    RateLaw
        Of the rate of decisions instead of errors.

    Raises
    ------
    InputError
        As for `rate_law`.

    Examples
    --------
    >>> import numpy as np
    >>> import fairtransport as ft
    >>> rng = np.random.default_rng(1)
    >>> age, group = rng.integers(0, 5, 1000), rng.integers(0, 2, 1000)
    >>> hired = rng.random(1000) < 0.2 + 0.3 * group
    >>> law = ft.inference.outcome_rate_law(age, group, hired, rng=0)
    >>> law.lower_bound() > 0.05
    True
    """
    choice("towards", towards, TOWARDS)
    decisions = float_array("favourable", favourable, (None,))
    if not np.isin(decisions, (0, 1)).all():
        odd = decisions[~np.isin(decisions, (0, 1))][0]
        msg = f"`favourable` must be 0 or 1 for each row, got {odd:g}"
        raise InputError(msg)
    return rate_law(
        blocks, groups, decisions if towards == "best" else 1 - decisions, counts=counts,
        strata=strata, alpha=alpha, orders=orders, rng=rng,
    )  # fmt: skip
