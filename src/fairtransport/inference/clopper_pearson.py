"""Clopper–Pearson: exact bounds for a share, and the exact test behind them.

If only free moves count and every gain is 0 or G, ψ = G · P(gain), and the number of people with a
gain is binomial: no bets are needed. Bounds and p-values are inversions of each other, so that a
bound excludes a share exactly if its p-value is at most α.
"""

from __future__ import annotations


def share_lower_bound(successes: int, n: int, alpha: float) -> float:
    """Return the exact lower confidence bound for a share at level 1 − α."""
    from scipy.special import betaincinv

    return 0.0 if successes == 0 else float(betaincinv(successes, n - successes + 1, alpha))


def share_upper_bound(successes: int, n: int, alpha: float) -> float:
    """Return the exact upper confidence bound for a share at level 1 − α."""
    from scipy.special import betaincinv

    return 1.0 if successes == n else float(betaincinv(successes + 1, n - successes, 1 - alpha))


def share_interval(successes: int, n: int, alpha: float) -> tuple[float, float]:
    """Return the exact interval of a share at level 1 − α, α/2 on each side."""
    return (
        share_lower_bound(successes, n, alpha / 2),
        share_upper_bound(successes, n, alpha / 2),
    )


def pvalue_share_at_most(successes: int, n: int, share: float) -> float:
    """Return the p-value of H0: the share is at most ``share``; many successes make it small."""
    from scipy.special import betainc

    if successes == 0:
        return 1.0
    # the probability of at least as many successes at the largest share of H0
    return float(betainc(successes, n - successes + 1, min(max(share, 0.0), 1.0)))


def pvalue_share_at_least(successes: int, n: int, share: float) -> float:
    """Return the p-value of H0: the share is at least ``share``; few successes make it small."""
    return pvalue_share_at_most(n - successes, n, 1 - share)
