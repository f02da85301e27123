"""Every name on the API page is described and shown by an example that runs."""

import inspect
from importlib import import_module

import pytest

from tests.public import PACKAGE, find_public, names_on_the_page

MODULES = [
    "", "access", "datasets", "inference", "monitor", "selection", "similarity", "testing",
    "transport",
]  # fmt: skip
NO_DEFINITIONS = {"SIMILARITIES", "METHODS"}


@pytest.mark.parametrize("module", MODULES)
def test_the_page_lists_every_public_name(module):
    exported = import_module(f"{PACKAGE}.{module}".rstrip("."))
    listed = {id(find_public(name)) for name in names_on_the_page()}
    missing = [
        name
        for name in exported.__all__
        if name not in NO_DEFINITIONS
        and not inspect.ismodule(getattr(exported, name))
        and id(getattr(exported, name)) not in listed
    ]

    assert missing == []


# pytest runs the examples themselves (--doctest-modules)
@pytest.mark.parametrize("name", names_on_the_page())
def test_every_name_on_the_page_has_an_example(name):
    doc = inspect.getdoc(find_public(name))

    assert doc.splitlines()[0].endswith(".")
    assert ">>> " in doc
