"""Exit codes, and which verdicts are failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from fairtransport.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

RAN, FAILED, WRONG_USAGE, REJECTED, NOT_CERTIFIED, NOT_APPLICABLE = 0, 1, 2, 3, 4, 5
INTERRUPTED, CLOSED_PIPE = 130, 141
"""What shells say of a program that a signal ended."""

FailOn: TypeAlias = Literal["rejected", "not-certified", "never"]


def check_fail_on(fail_on: FailOn, delta: float | None) -> None:
    """Refuse to wait for a certificate that cannot come, which would look like one.

    Parameters
    ----------
    fail_on, delta
        Without δ there is no verdict, and "not-certified" would never fail.

    Raises
    ------
    InputError
        Before anything is computed.
    """
    if fail_on == "not-certified" and delta is None:
        msg = "`--delta` must be given with `--fail-on not-certified`: no verdict comes without it"
        raise InputError(msg)


def exit_code(verdict: str | None, fail_on: FailOn) -> int:
    """Return the exit code of a verdict.

    Parameters
    ----------
    verdict
        None without δ.
    fail_on
        What counts as a failure; a rejection and an empty audit do unless "never".

    Examples
    --------
    >>> exit_code("inconclusive", "rejected"), exit_code("inconclusive", "not-certified")
    (0, 4)
    """
    if fail_on == "never" or verdict is None:
        return RAN
    if verdict == "rejected":
        return REJECTED
    if verdict == "not-applicable":
        return NOT_APPLICABLE
    return NOT_CERTIFIED if fail_on == "not-certified" and verdict != "certified" else RAN


def family_exit_code(verdicts: Iterable[str | None], fail_on: FailOn) -> int:
    """Return the exit code of several verdicts: that of the worst; what has none is not certified.

    Parameters
    ----------
    verdicts
        Of all audits.
    fail_on
        As in `exit_code`.

    Examples
    --------
    >>> family_exit_code(["certified", "rejected", "inconclusive"], "not-certified")
    3
    >>> family_exit_code(["certified", "not-applicable", "inconclusive"], "not-certified")
    5
    """
    codes = {exit_code(verdict or "untested", fail_on) for verdict in verdicts}
    return REJECTED if REJECTED in codes else max(codes, default=RAN)
