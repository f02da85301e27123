"""The public definitions: all names of the API page, with the public methods of its classes."""

from __future__ import annotations

import inspect
import re
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "api.md"
PACKAGE = "fairtransport"


class Public(NamedTuple):
    """A public definition, and the name of the page that shows it."""

    page: str
    name: str
    value: object

    @property
    def function(self):
        """What is called: of a property, what works it out."""
        if isinstance(self.value, property):
            return self.value.fget
        return getattr(self.value, "func", self.value)

    @property
    def place(self):
        """The full name of where it is written."""
        where = inspect.unwrap(self.function)
        return f"{where.__module__}.{where.__qualname__}"


def names_on_the_page():
    """Return the names that the API page lists, in their order."""
    return re.findall(r"^   ([A-Za-z_][\w.]*)$", PAGE.read_text("utf-8"), re.MULTILINE)


def find_public(name):
    """Return what a name of the API page stands for."""
    module, rest = import_module(PACKAGE), name.split(".")
    while len(rest) > 1:
        module = import_module(f"{module.__name__}.{rest.pop(0)}")
    return getattr(module, rest[0])


def public_definitions():
    """Return each public definition once: what several classes inherit, where it is written."""
    known = {}
    for page in names_on_the_page():
        value = find_public(page)
        defined = [Public(page, page, value)]
        if inspect.isclass(value):
            defined += methods_of(page, value)
        for one in defined:
            known.setdefault(one.place, one)
    return list(known.values())


def methods_of(page, kind):
    """Return the methods and properties of a class that a user may call."""
    for name in dir(kind):
        owner = next(one for one in kind.__mro__ if name in vars(one) or one is object)
        if name.startswith("_") or not owner.__module__.startswith(PACKAGE):
            continue
        value = vars(owner)[name]
        value = getattr(value, "__func__", getattr(value, "fn", value))
        if inspect.isfunction(value) or isinstance(value, property | cached_property):
            yield Public(page, f"{page}.{name}", value)
