"""The exceptions a user can meet, and references to parameters in their messages."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_BEGIN, _KEY, _VALUE, _END = "\ue000", "\ue001", "\ue002", "\ue003"
"""Private-use characters around a reference; no parameter's name has any of them."""


def param(name: str, key: object = None) -> str:
    """Return a reference to a parameter, or to its entry ``key``, for an error message."""
    return f"{_BEGIN}{name if key is None else entry(name, key)}{_END}"


def entry(name: str, key: object) -> str:
    """Return the name of a parameter's entry, for functions that take a parameter's name."""
    return f"{name}{_KEY}{key}"


def option(name: str, value: str, code: str | None = None) -> str:
    """Return a reference to a parameter set to a value, for an error message.

    ``code`` is the value in Python, where that is not the same text.
    """
    return f"{_BEGIN}{name}{_VALUE}{value}{_VALUE}{repr(value) if code is None else code}{_END}"


def render_message(message: str, flags: Mapping[str, str] | None = None) -> str:
    """Return a message with its references written out, as flags where there are flags."""
    text, *references = message.split(_BEGIN)
    for part in references:
        reference, _, rest = part.partition(_END)
        text += _render_reference(reference, flags or {}) + rest
    return text


def _render_reference(reference: str, flags: Mapping[str, str]) -> str:
    if _VALUE in reference:
        name, value, code = reference.split(_VALUE)
        if name not in flags:
            return f"{name}={code}"
        return f"{flags[name]}{' ' if flags[name].startswith('-') else ': '}{value}"
    name, _, key = reference.partition(_KEY)
    if name in flags:
        return f"`{flags[name]}.{key}`" if key else f"`{flags[name]}`"
    return f"`{name}[{key!r}]`" if key else f"`{name}`"


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
        """The message, its references to parameters not yet written out."""
        return str(self.args[0])

    @property
    def parameter(self) -> str | None:
        """The parameter that the error is about; None if it is about none."""
        _, _, rest = self.message.partition(_BEGIN)
        name = rest.partition(_END)[0].partition(_KEY)[0].partition(_VALUE)[0]
        return name or None

    def __str__(self) -> str:
        return render_message(self.message, self.flags)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


@contextmanager
def name_parameters(**flags: str) -> Iterator[None]:
    """Let errors that are raised inside call parameters by these flags."""
    try:
        yield
    except FairtransportError as error:
        error.flags = flags | error.flags
        raise


class InputError(FairtransportError, ValueError):
    """An argument breaks its rule; the message names it, the rule and what was received.

    Examples
    --------
    >>> import fairtransport as ft
    >>> ft.AuditProblem([0.0], [[0.0]], budget=-1)
    Traceback (most recent call last):
    fairtransport.errors.InputError: `budget` must be a number of at least 0, got -1
    """


class DataError(FairtransportError, ValueError):
    """The audit data cannot be audited as asked.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", None], "good": [1, 1], "said": [1, 0]})
    >>> ft.audit(people, "good", y_pred="said", sensitive_features="sex")
    Traceback (most recent call last):
    fairtransport.errors.DataError: the column 'sex' must not have missing values, but 1 is
    missing; fill them in or leave these people out, or pass missing='level', which makes missing a
    value of its own
    """


class ModelError(FairtransportError, RuntimeError):
    """The black box failed or answered something that cannot be used.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"], "good": [1, 1]})
    >>> ft.audit(people, "good", model=lambda asked: [None] * len(asked), sensitive_features="sex")
    Traceback (most recent call last):
    fairtransport.errors.ModelError: the model <lambda> must give labels, got None
    """


class NoCandidateError(FairtransportError, ValueError):
    """No candidate of a search passes its δ-fairness rule; ``results`` says how far each was.

    Parameters
    ----------
    message
        What is said.
    results
        A table of the candidates, one row each.

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
