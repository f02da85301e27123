"""The exceptions a user can meet, and references to parameters in messages and notes."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_BEGIN, _KEY, _VALUE, _END = "\ue000", "\ue001", "\ue002", "\ue003"
"""Private-use characters that delimit a reference and occur in no parameter's name."""


def param(name: str, key: object = None) -> str:
    """Return a reference to a parameter, or to its entry ``key``, for an error or a note."""
    return f"{_BEGIN}{name if key is None else entry(name, key)}{_END}"


def entry(name: str, key: object) -> str:
    """Return the name of a parameter's entry, for functions that take a parameter's name."""
    return f"{name}{_KEY}{key}"


def option(name: str, value: str, code: str | None = None) -> str:
    """Return a reference to a parameter, or an entry of it, set to a value.

    ``code`` is the value as Python code, if that text differs.
    """
    return f"{_BEGIN}{name}{_VALUE}{value}{_VALUE}{repr(value) if code is None else code}{_END}"


def render_message(message: str, flags: Mapping[str, str] | None = None) -> str:
    """Return a message with its references resolved, to flags where there are any."""
    text, *references = message.split(_BEGIN)
    for part in references:
        reference, _, rest = part.partition(_END)
        text += _render_reference(reference, flags or {}) + rest
    return text


def _render_reference(reference: str, flags: Mapping[str, str]) -> str:
    reference, _, setting = reference.partition(_VALUE)
    value, _, code = setting.partition(_VALUE)
    name, _, key = reference.partition(_KEY)
    if name in flags:
        flag = f"{flags[name]}{_key_of_flag(flags[name], key)}"
        if not setting:
            return f"`{flag}`"
        return f"{flag}{' ' if flag.startswith('-') else ': '}{value}"
    if setting:
        return f"{name}={{{key!r}: {code}}}" if key else f"{name}={code}"
    return f"`{name}[{key!r}]`" if key else f"`{name}`"


def _key_of_flag(flag: str, key: str) -> str:
    """Return how an entry is named behind a flag, or behind a field of a form."""
    if not key:
        return ""
    return f".{key}" if flag.startswith("-") else f", {key}"


class FairtransportError(Exception):
    """Base of every error raised on purpose by fairtransport.

    Examples
    --------
    >>> import fairtransport as ft
    >>> try:
    ...     ft.AuditProblem([0.0], [[0.0]], budget=-1)
    ... except ft.FairtransportError as error:
    ...     print(error.parameter, error, sep=": ")
    budget: `budget` must be a number of at least 0, got -1
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.flags: dict[str, str] = {}

    @property
    def message(self) -> str:
        """Message whose references to parameters are not yet resolved."""
        return str(self.args[0])

    @property
    def parameter(self) -> str | None:
        """Name of the parameter at fault; None if there is none."""
        _, _, rest = self.message.partition(_BEGIN)
        name = rest.partition(_END)[0].partition(_KEY)[0].partition(_VALUE)[0]
        return name or None

    def __str__(self) -> str:
        return render_message(self.message, self.flags)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


@contextmanager
def name_parameters(**flags: str) -> Iterator[None]:
    """Name parameters by these flags in errors raised inside."""
    try:
        yield
    except FairtransportError as error:
        error.flags = flags | error.flags
        raise


class InputError(FairtransportError, ValueError):
    """An argument is invalid; the message names it, its rule and the value received.

    Examples
    --------
    >>> import fairtransport as ft
    >>> ft.AuditProblem([0.0], [[0.0]], budget=-1)
    Traceback (most recent call last):
    fairtransport.errors.InputError: `budget` must be a number of at least 0, got -1
    """


class DataError(FairtransportError, ValueError):
    """The data do not allow the requested audit.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", None], "good": [1, 1], "decision": [1, 0]})
    >>> ft.audit(people, "good", y_pred="decision", sensitive_features="sex")
    Traceback (most recent call last):
    fairtransport.errors.DataError: the column 'sex' must not have missing values, but 1 is
    missing; fill them in or leave these people out, or pass missing='level', which treats missing
    as a value of its own
    """


class ModelError(FairtransportError, RuntimeError):
    """The model failed or returned an unusable answer.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"], "good": [1, 1]})
    >>> ft.audit(people, "good", model=lambda x: [None] * len(x), sensitive_features="sex")
    Traceback (most recent call last):
    fairtransport.errors.ModelError: the model <lambda> must give labels, got None
    """


class NoCandidateError(FairtransportError, ValueError):
    """No candidate of a search is δ-fair; ``results`` shows how far each was from it.

    Parameters
    ----------
    message
        The error message.
    results
        Table of the candidates, one per row.

    Examples
    --------
    >>> import fairtransport as ft
    >>> choose = ft.selection.delta_fair_refit(0.05)
    >>> choose({"mean_test_accuracy": [0.9], "mean_test_faith": [-0.2], "params": [{"C": 1}]})
    Traceback (most recent call last):
    fairtransport.errors.NoCandidateError: the only candidate has not a mean faith (sign changed) of
    at most δ = 0.05; the nearest is {'C': 1}, whose mean faith (sign changed) 0.2 is 0.15 above it
    """

    def __init__(self, message: str, results: object = None) -> None:
        super().__init__(message)
        self.results = results

    def __reduce__(self) -> tuple[type, tuple[str, object]]:
        return type(self), (self.args[0], self.results)
