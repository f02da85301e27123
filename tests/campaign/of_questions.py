"""Query logs that are none, and ways of asking that contradict each other."""

from dataclasses import fields

import numpy as np

import fairtransport as ft
from tests.campaign.kinds import Kind
from tests.campaign.people import audit, model

NAMED = ft.access.named(model, "box 1")


def asked(**options):
    """Audit with the options of `Queries` among those of `audit`."""
    names = [one.name for one in fields(ft.Queries) if one.name in options]
    queries = ft.Queries(**{name: options.pop(name) for name in names})
    return audit(queries=queries, **options)


LOGS = [
    Kind("query log", what, lambda o=options: asked(**o), says)
    for what, options, says in (
        ("a number", {"log": 7, "model": NAMED}, "^`queries.log` must be the path of a file"),
        ("nothing but an ending", {"log": ".sqlite", "model": NAMED}, "^`queries.log` must be"),
        ("another ending", {"log": "a.db", "model": NAMED}, "^`queries.log` must be the path"),
        (
            "a folder",
            {"log": "/proc/a.sqlite", "model": NAMED},
            "could not be opened for wri",
        ),
        ("a nameless callable", {"log": "/proc/a.sqlite"}, "^`queries.log` needs a model with"),
    )
]
ASKING = [
    Kind("asking", what, lambda o=options: asked(**o), says)
    for what, options, says in (
        ("no draws", {"draws": 0}, "^`queries.draws` must be a whole number of at least 1, got 0"),
        ("endless draws", {"draws": 10**9}, "^`queries.draws` must be a whole number of at least 1 and at most 10,000"),
        ("draws that are true", {"draws": True}, "^`queries.draws` must be a whole number"),
        ("NaN draws", {"draws": np.nan}, "^`queries.draws` must be a whole number"),
        ("draws with a budget", {"draws": 2, "budget": 1.0}, "^`queries.draws` needs a `budget` of 0"),
        ("fewer than no repeats", {"repeats": -1}, "^`queries.repeats` must be a whole number of at least 0"),
        ("sure of nothing", {"until_sure": True, "delta": None}, "^`delta` must be given with"),
        ("sure in words", {"until_sure": "yes"}, "^`queries.until_sure` must be True or False"),
        ("a budget alone", {"limit": 9}, "^`queries.limit` must be given with"),
        ("half a question", {"until_sure": True, "delta": 0.1, "limit": 0.5},
         "^`queries.limit` must be a whole number"),
    )
] + [
    Kind("access.named", what, lambda n=name: ft.access.named(model, n), "^`identity` must be text")
    for what, name in (("no name", ""), ("a number", 3), ("nothing", None))
]  # fmt: skip

KINDS = [*LOGS, *ASKING]
