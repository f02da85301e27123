"""The exceptions a user can meet."""


class FairtransportError(Exception):
    """Base of every error raised on purpose by fairtransport."""


class InputError(FairtransportError, ValueError):
    """An argument breaks its rule; the message names it, the rule and what was received."""


class DataError(FairtransportError, ValueError):
    """The audit data cannot be audited as asked."""


class ModelError(FairtransportError, RuntimeError):
    """The black box failed or answered something that cannot be used."""
