"""Errors with a given message."""

import re

import pytest


def raises(kind, *parts):
    """Expect an error whose message contains these texts, in their order."""
    return pytest.raises(kind, match=".*".join(map(re.escape, parts)))
