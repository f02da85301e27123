"""Every public definition says what it takes and returns, and shows it."""

import inspect
from functools import cached_property
from importlib import import_module

import pytest
from numpydoc.docscrape import NumpyDocString

from tests.public import PACKAGE, found, names_on_the_page, public_definitions

PUBLIC = {one.name: one for one in public_definitions()}
MODULES = [
    "", "access", "datasets", "inference", "monitor", "selection", "similarity", "testing",
    "transport",
]  # fmt: skip
NO_DEFINITIONS = {"SIMILARITIES", "METHODS"}


@pytest.mark.parametrize("module", MODULES)
def test_the_page_lists_all_that_is_public(module):
    exported = import_module(f"{PACKAGE}.{module}".rstrip("."))
    listed = {id(found(name)) for name in names_on_the_page()}
    lacking = [
        name
        for name in exported.__all__
        if name not in NO_DEFINITIONS
        and not inspect.ismodule(getattr(exported, name))
        and id(getattr(exported, name)) not in listed
    ]

    assert lacking == []


def test_nine_of_ten_public_definitions_have_an_example_that_runs():
    without = [name for name, one in PUBLIC.items() if ">>> " not in inspect.getdoc(one.value)]

    assert len(PUBLIC) > 300
    assert len(without) <= 0.1 * len(PUBLIC), without


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_definition_names_what_it_takes_and_returns(name):
    one = PUBLIC[name]
    said = NumpyDocString(inspect.getdoc(one.value))

    assert said["Summary"]
    assert parameters_of(one.value) <= told_by(one.value)
    if not inspect.isclass(one.value) and returns_something(one.function):
        assert said["Returns"]


def parameters_of(value):
    """Return the names of what is passed, by whoever calls it."""
    if isinstance(value, property | cached_property) or getattr(value, "_is_protocol", False):
        return set()
    if inspect.isclass(value) and issubclass(value, Exception):
        value = value.__init__
    given = inspect.signature(value).parameters
    return {name for name in given if name not in {"self", "cls", "args", "kwargs"}}


def told_by(value):
    """Return the names that a docstring explains; a class also knows those of its bases."""
    docs = (
        [one.__doc__ or "" for one in value.__mro__] if inspect.isclass(value) else [value.__doc__]
    )
    return {
        name.strip().lstrip("*")
        for doc in docs
        for section in ("Parameters", "Attributes")
        for entry in NumpyDocString(inspect.cleandoc(doc))[section]
        for name in entry.name.split(",")
    }


def returns_something(function):
    return inspect.signature(function).return_annotation not in {"None", "NoReturn"}
