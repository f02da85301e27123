"""Clopper–Pearson: exact bounds for a share, and the exact test behind them.

Where free moves are all that counts and every gain is 0 or G, ψ = G · P(gain), and the number of
people with a gain is binomial: nothing has to be bet. Bounds and p-values here are inversions of
one another, so that a bound excludes a share exactly if its p-value is at most α.
"""

from __future__ import annotations


def share_at_least(successes: int, n: int, alpha: float) -> float:
    """Return the exact lower confidence bound for a share at level 1 − α.

    Parameters
    ----------
    successes, n
        How many of the n independent people count.
    alpha
        P(bound > share) is at most this, for every share.

    Returns
    -------
    float
        The share at which so many successes or more have probability α; 0 without any.

    Examples
    --------
    >>> round(share_at_least(3, 100, alpha=0.05), 4)
    0.0082
    """
    from scipy.special import betaincinv

    return 0.0 if successes == 0 else float(betaincinv(successes, n - successes + 1, alpha))


def share_at_most(successes: int, n: int, alpha: float) -> float:
    """Return the exact upper confidence bound for a share at level 1 − α.

    Parameters
    ----------
    successes, n
        How many of the n independent people count.
    alpha
        P(bound < share) is at most this, for every share.

    Returns
    -------
    float
        The share at which so many successes or fewer have probability α; 1 if all are.

    Examples
    --------
    Nobody among 100: the "rule of three" in its exact form.

    >>> round(share_at_most(0, 100, alpha=0.05), 4)
    0.0295
    """
    from scipy.special import betaincinv

    return 1.0 if successes == n else float(betaincinv(successes + 1, n - successes, 1 - alpha))


def p_share_at_most(successes: int, n: int, share: float) -> float:
    """Return the p-value of H0: the share is at most ``share`` (many successes speak against).

    Parameters
    ----------
    successes, n
        How many of the n independent people count.
    share
        The largest share that H0 allows; values outside [0, 1] count as its ends.

    Returns
    -------
    float
        P(Binomial(n, share) >= successes), by the incomplete beta function.

    Examples
    --------
    >>> round(p_share_at_most(3, 100, share=0.01), 4)
    0.0794
    """
    from scipy.special import betainc

    if successes == 0:
        return 1.0
    # the chance of so many successes or more at the largest share that H0 allows
    return float(betainc(successes, n - successes + 1, min(max(share, 0.0), 1.0)))


def p_share_at_least(successes: int, n: int, share: float) -> float:
    """Return the p-value of H0: the share is at least ``share`` (few successes speak against).

    Parameters
    ----------
    successes, n
        How many of the n independent people count.
    share
        The smallest share that H0 allows.

    Returns
    -------
    float
        P(Binomial(n, share) <= successes): the other test with failures for successes.
    """
    return p_share_at_most(n - successes, n, 1 - share)
