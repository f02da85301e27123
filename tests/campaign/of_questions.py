"""Query logs that are none, and ways of asking that contradict each other."""

import numpy as np

import fairtransport as ft
from tests.campaign.kinds import Kind
from tests.campaign.people import audit, model

NAMED = ft.access.named(model, "box 1")

LOGS = [
    Kind("query log", what, lambda o=options: audit(**o), says)
    for what, options, says in (
        ("a number", {"query_log": 7, "model": NAMED}, "^`query_log` must be the path of a file"),
        ("nothing but an ending", {"query_log": ".sqlite", "model": NAMED}, "^`query_log` must be"),
        ("another ending", {"query_log": "a.db", "model": NAMED}, "^`query_log` must be the path"),
        (
            "a folder",
            {"query_log": "/proc/a.sqlite", "model": NAMED},
            "could not be opened for wri",
        ),
        ("a nameless callable", {"query_log": "/proc/a.sqlite"}, "^`query_log` needs a model with"),
    )
]
ASKING = [
    Kind("asking", what, lambda o=options: audit(**o), says)
    for what, options, says in (
        ("no draws", {"draws": 0}, "^`draws` must be a whole number >= 1, got 0"),
        ("endless draws", {"draws": 10**9}, "^`draws` must be a whole number >= 1 and <= 10,000"),
        ("draws that are true", {"draws": True}, "^`draws` must be a whole number"),
        ("NaN draws", {"draws": np.nan}, "^`draws` must be a whole number"),
        ("draws with a budget", {"draws": 2, "budget": 1.0}, "^`draws` needs a `budget` of 0"),
        ("fewer than no repeats", {"repeats": -1}, "^`repeats` must be a whole number >= 0"),
        ("sure of nothing", {"ask_until_sure": True, "delta": None}, "^`delta` must be given with"),
        ("sure in words", {"ask_until_sure": "yes"}, "^`ask_until_sure` must be True or False"),
        ("a budget alone", {"budget_of_questions": 9}, "^`budget_of_questions` must be given with"),
        ("half a question", {"ask_until_sure": True, "delta": 0.1, "budget_of_questions": 0.5},
         "^`budget_of_questions` must be a whole number"),
    )
] + [
    Kind("access.named", what, lambda n=name: ft.access.named(model, n), "^`identity` must be text")
    for what, name in (("no name", ""), ("a number", 3), ("nothing", None))
]  # fmt: skip

KINDS = [*LOGS, *ASKING]
