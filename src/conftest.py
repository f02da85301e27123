"""Examples of docstrings: of public definitions they need nothing but what the page shows.

On a class's page the example of the class comes first, and those of its methods go on from it.
"""

import doctest
from functools import cache

import pytest
from tests.public import find_public, public_definitions


@cache
def pages():
    """Return the page of each public definition, by where it is written."""
    return {one.place: one.page for one in public_definitions()}


@cache
def names_of(page):
    """Return what the example of a page's class defines; nothing for a function."""
    names = {"__name__": "example"}
    examples = doctest.DocTestParser().get_examples(find_public(page).__doc__)
    test = doctest.DocTest(examples, names, page, None, None, None)
    doctest.DocTestRunner(verbose=False).run(test, out=lambda _: None, clear_globs=False)
    return test.globs


@pytest.fixture(autouse=True)
def only_what_the_page_shows(request):
    """Give an example the names of its class's example, and none of its module."""
    page = pages().get(request.node.name)
    if page is not None:
        own = request.node.dtest.globs
        own.clear()
        own["__name__"] = "example"
        if is_method(request.node.name, page):
            own.update(names_of(page))


def is_method(place, page):
    """Return whether a definition is a part of what has the page."""
    kind = find_public(page)
    return place != f"{kind.__module__}.{kind.__qualname__}"
