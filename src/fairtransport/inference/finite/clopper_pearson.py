"""Clopper–Pearson: exact bounds for a share, and the exact test behind them."""

from __future__ import annotations


def share_at_least(successes: int, n: int, alpha: float) -> float:
    """Return the exact lower confidence bound for a share at level 1 − α."""
    from scipy.special import betaincinv

    return 0.0 if successes == 0 else float(betaincinv(successes, n - successes + 1, alpha))


def share_at_most(successes: int, n: int, alpha: float) -> float:
    """Return the exact upper confidence bound for a share at level 1 − α."""
    from scipy.special import betaincinv

    return 1.0 if successes == n else float(betaincinv(successes + 1, n - successes, 1 - alpha))


def p_share_at_most(successes: int, n: int, share: float) -> float:
    """Return the p-value of H0: the share is at most ``share`` (many successes speak against)."""
    from scipy.special import betainc

    if successes == 0:
        return 1.0
    # the chance of so many successes or more at the largest share that H0 allows
    return float(betainc(successes, n - successes + 1, min(max(share, 0.0), 1.0)))


def p_share_at_least(successes: int, n: int, share: float) -> float:
    """Return the p-value of H0: the share is at least ``share`` (few successes speak against)."""
    return p_share_at_most(n - successes, n, 1 - share)
