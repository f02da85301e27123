"""Settings of a monitor that break a rule are named."""

import pandas as pd
import pytest
from tests.messages import raises
from tests.monitor.people import LEVELS, asking, people, told

import fairtransport as ft


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": 1.0}, "`delta` must be a fraction from 0 to below 1 (5 % is 0.05), got 1"),
        ({"alpha": 0}, "`alpha` must be a number above 0 and below 0.5, got 0"),
        ({"budget": -1}, "`budget` must be"),
        ({"levels": None}, "`levels['group']` must list all values"),
        ({"levels": {"x": [1]}}, "`levels` must name sensitive features"),
        ({"levels": 3}, "`levels` must map"),
        ({"y": None}, "`y`, the true labels, must be given"),
        ({"y": [1, 0]}, "`y` must be distinct column names in a monitor"),
        (
            {"features": ["good", "x"]},
            "`features` and `y` must not name the same column, got 'good' for both",
        ),
        ({"bins": {"z": [1]}}, "`bins` must name audited columns (group, x), got 'z'"),
        ({"loss": "absolute"}, "`loss_range` must be given"),
        ({"y_pred": "guess"}, "exactly one of"),
        ({"targets": pd.DataFrame()}, "`targets` must be left out with `model`"),
        ({"missing": "drop"}, "`missing` must be one of"),
    ],
)
def test_wrong_settings_are_named(options, message):
    with raises(ft.InputError, message):
        asking(**options)


def test_levels_without_a_model_are_refused():
    with pytest.raises(ft.InputError, match="`levels` needs `model`"):
        told(levels=LEVELS)


def test_combinations_that_are_not_offered():
    with pytest.raises(ft.InputError, match="`y_pred` must be one column"):
        told(y_pred=["guess", "x"])
    with pytest.raises(ft.InputError, match="`bins` must be left out with `targets`"):
        told(targets=people(3), bins={"x": [1]})
