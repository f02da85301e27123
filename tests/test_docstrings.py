"""Every public definition says what it takes and returns, and shows it."""

import inspect
import re
import runpy
from functools import cached_property
from importlib import import_module
from pathlib import Path

import pytest

from tests.public import PACKAGE, found, names_on_the_page, public_definitions

PUBLIC = {one.name: one for one in public_definitions()}
MODULES = [
    "", "access", "datasets", "inference", "monitor", "selection", "similarity", "testing",
    "transport",
]  # fmt: skip
EXTENSION = Path(__file__).parents[1] / "docs" / "_ext" / "field_docs.py"
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
    said = inspect.getdoc(one.value)

    assert said.splitlines()[0].endswith(".")
    assert parameters_of(one.value) <= told_by(one.value)
    if not inspect.isclass(one.value) and returns_something(one.function):
        assert entries(said, "Returns")


def parameters_of(value):
    """Return the names of what is passed, by whoever calls it."""
    if isinstance(value, property | cached_property) or getattr(value, "_is_protocol", False):
        return set()
    if inspect.isclass(value) and issubclass(value, Exception):
        value = value.__init__
    given = inspect.signature(value).parameters
    return {name for name in given if name not in {"self", "cls", "args", "kwargs"}}


def told_by(value):
    """Return the names that a docstring explains; a class also knows those of its bases.

    What is said at a field counts, which the site shows as well.
    """
    kinds = value.__mro__ if inspect.isclass(value) else [value]
    at_fields = runpy.run_path(str(EXTENSION))["said_at_fields"](value)
    return set(at_fields) | {
        name.strip().lstrip("*")
        for kind in kinds
        for section in ("Parameters", "Attributes")
        for entry in entries(inspect.cleandoc(kind.__doc__ or ""), section)
        for name in entry.split(",")
    }


def entries(doc, section):
    """Return the heads of a section's entries, the lines that are not indented."""
    found = re.search(rf"^{section}\n-+\n(.*?)(?=^\w[^\n]*\n-+$|\Z)", doc, re.MULTILINE | re.DOTALL)
    lines = found[1].splitlines() if found else []
    return [line for line in lines if line and not line.startswith(" ")]


def returns_something(function):
    return inspect.signature(function).return_annotation not in {"None", "NoReturn"}


def test_what_a_docstring_leaves_out_is_seen():
    def half(a, b):
        """Return something.

        Parameters
        ----------
        a
            One of two.
        """

    assert parameters_of(half) - told_by(half) == {"b"}
    assert entries(inspect.getdoc(half), "Returns") == []
