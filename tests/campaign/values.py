"""Values that are no numbers, no whole numbers, no seeds, and so on."""

from decimal import Decimal

import numpy as np

NO_NUMBERS = {
    "text": "0.1",
    "bytes": b"0.1",
    "a truth value": True,
    "NaN": float("nan"),
    "infinity": float("inf"),
    "minus infinity": float("-inf"),
    "a list": [0.1],
    "an array": np.array([0.1, 0.2]),
    "a complex number": 0.1 + 1j,
    "a decimal": Decimal("0.1"),
    "an unbounded integer": 10**400,
    "a dictionary": {"value": 0.1},
    "a function": abs,
    "a date": np.datetime64("2020-01-01"),
}
NO_WHOLE_NUMBERS = {
    "a fraction": 1.5,
    "a whole float": 100.0,
    "text": "100",
    "a truth value": True,
    "NaN": float("nan"),
    "zero": 0,
    "negative": -3,
    "nothing": None,
    "a list": [100],
    "a complex number": 100 + 0j,
}
NO_SEEDS = {
    "negative": -1,
    "a fraction": 1.5,
    "text": "1",
    "a truth value": True,
    "a list": [1, 2],
    "a legacy generator": np.random.RandomState(0),
    "an object": object(),
}
NO_NAMES = {
    "a number": 3,
    "an unknown name": "height",
    "names twice": ["race", "race"],
    "a list with a number": ["race", 3],
    "a list with nothing": [None],
    "bytes": b"race",
    "a nested list": [["race"]],
}
