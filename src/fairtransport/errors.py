"""The exceptions a user can meet."""


class FairtransportError(Exception):
    """Base of every error raised on purpose by fairtransport.

    Examples
    --------
    >>> import fairtransport as ft
    >>> try:
    ...     ft.AuditProblem([0.0], [[0.0]], budget=-1)
    ... except ft.FairtransportError as error:
    ...     print(error)
    `budget` must be a finite number >= 0, got -1
    """


class InputError(FairtransportError, ValueError):
    """An argument breaks its rule; the message names it, the rule and what was received.

    Examples
    --------
    >>> import fairtransport as ft
    >>> ft.AuditProblem([0.0], [[0.0]], budget=-1)
    Traceback (most recent call last):
    fairtransport.errors.InputError: `budget` must be a finite number >= 0, got -1
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
    fairtransport.errors.DataError: the column 'sex' must not have missing values, got 1;
    missing='level' makes it a level of its own
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
        super().__init__(message, results)
        self.results = results

    def __str__(self) -> str:
        return str(self.args[0])
