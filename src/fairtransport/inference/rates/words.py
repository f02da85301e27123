"""What rates say and do not say, in words."""

from __future__ import annotations

import math

UNKNOWN = "What else differs between the groups was not audited."
WORST, MEAN_LOSS = "the worst-treated group", "the mean loss"


def rate_sentence(
    feature: str, *, pvalue: str | None, bound: str | None, alpha: float,
    whom: str = WORST, what: str = MEAN_LOSS,
) -> str:  # fmt: skip
    """Return what was found about people who are alike, by the groups of a feature.

    Parameters
    ----------
    feature
        The sensitive feature, or several.
    pvalue
        The p-value of the permutation test, in words, if it rejects.
    bound
        The lower bound of R at level 1 − α, in words, if it is above 0.
    alpha
        The level of both.
    whom, what
        The group that everybody would be treated as, and what rises then.

    Notes
    -----
    Never "because of": a column that the audit lacks and that differs by group does the same.

    Examples
    --------
    >>> rate_sentence("sex", pvalue=None, bound=None, alpha=0.05).split(". ")[1]
    'That is no evidence that they are treated alike.'
    """
    differently = (
        f"People who are alike in the audited columns are treated differently by {feature}"
    )
    if bound is not None:
        return (
            f"{differently}: if everybody were treated as {whom} among those alike, {what} would "
            f"be at least {bound} higher ({100 * (1 - alpha):g} % confidence). "
            f"{UNKNOWN}"
        )
    if pvalue is not None:
        return (
            f"{differently} (permutation test, {pvalue}), but by how much was not established. "
            f"{UNKNOWN}"
        )
    return (
        f"No difference by {feature} was established among people who are alike in the audited "
        "columns. That is no evidence that they are treated alike."
    )


def rounded_down(bound: float) -> str:
    """Return two digits of a number, never more than it is.

    Examples
    --------
    >>> rounded_down(0.0399), rounded_down(0.00068), rounded_down(12.5)
    ('0.039', '0.00068', '12')
    """
    digits = 1 - math.floor(math.log10(bound))
    down = math.floor(bound * 10.0**digits + 1e-9) / 10.0**digits
    return f"{down:.{max(digits, 0)}f}"
