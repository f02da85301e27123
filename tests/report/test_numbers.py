"""Text from the data is visible, and numbers read as a person writes them."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtransport.report import text as numbers
from fairtransport.report import text as strings


@given(st.text())
def test_visible_text_hides_nothing(raw):
    shown = strings.visible(raw)
    left = {unicodedata.category(sign) for sign in shown if sign not in "\u200c\u200d"}
    assert not left & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert strings.visible(shown) == shown


@pytest.mark.parametrize(
    "sign", "\u202a\u202e\u2066\u2069\u200e\u200f\u061c\x00\n\t\u2028\ufeff\ud800"
)
def test_every_hidden_sign_has_its_number(sign):
    assert strings.visible(f"a{sign}b") == f"a⟨U+{ord(sign):04X}⟩b"


def test_joiners_and_scripts_stay():
    for whole in ("می‌خواهم", "שלום", "naïve", "👩‍💻"):
        assert strings.visible(whole) == whole


def test_long_text_ends_in_an_ellipsis():
    assert strings.shorten("x" * 10_000, 20) == "x" * 19 + "…"
    assert strings.shorten("short") == "short"


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (numbers.people(-3.0), "−3"),
        (numbers.people(-1e-9), "0"),
        (numbers.people(12345.6), "12,345.6"),
        (numbers.signed(1e-9), "0"),
        (numbers.signed(0.5), "+0.5"),
        (numbers.percent(-0.031), "−3.1 %"),
        (numbers.percent(1.0), "100 %"),
        (numbers.percent(0.9999, 1), "100 %"),
        (numbers.decimal(float("inf")), "none"),
        (strings.group_text({}), "everybody"),
        (numbers.pvalue(0.0001), "p = 0.0001"),
        (numbers.distinct_decimals(0.1, 0.1), ("0.1000", "0.1000")),
        (numbers.bound(0.1 + 0.2, numbers.UP), "0.3000"),
        (numbers.bound(-0.00001, numbers.DOWN), "−0.0001"),
        (numbers.bound(float("inf"), numbers.UP), "no upper bound"),
        (numbers.interval_text(None, 0.5), "at most 0.5000, no lower bound"),
        (numbers.level(1e-7), "0.00001 %"),
    ],
)
def test_numbers(made, wanted):
    assert made == wanted


@pytest.mark.parametrize(
    ("value", "text"),
    [(13330.0, "13330"), (13330.57, "13330.57"), (2019.0, "2019"), (-1234.5, "-1234.5"),
     (0.123456, "0.1235"), (999.96, "1000"), (1e20, "1e+20")],
)  # fmt: skip
def test_numbers_of_people_keep_all_digits_before_the_point(value, text):
    assert numbers.value_text(value) == text
