"""The exceptions a user can meet."""


class FairtransportError(Exception):
    """Base of every error raised on purpose by fairtransport."""


class InputError(FairtransportError, ValueError):
    """An argument breaks its rule; the message names it, the rule and what was received."""


class DataError(FairtransportError, ValueError):
    """The audit data cannot be audited as asked."""


class ModelError(FairtransportError, RuntimeError):
    """The black box failed or answered something that cannot be used."""


class NoCandidateError(FairtransportError, ValueError):
    """No candidate of a search passes its δ-fairness rule; ``results`` says how far each was."""

    def __init__(self, message: str, results: object = None) -> None:
        super().__init__(message, results)
        self.results = results

    def __str__(self) -> str:
        return str(self.args[0])
