"""Every check names the parameter, the rule and what was received."""

from fractions import Fraction

import numpy as np
import pytest

from fairtransport._core.validation import (
    check_choice,
    check_finite,
    check_float_array,
    check_generator,
    check_number,
    describe_error,
    explain_failures,
    is_among,
    short_repr,
)
from fairtransport.errors import InputError


@pytest.mark.parametrize("value", [0, 2.5, np.float32(1), np.int64(3), Fraction(1, 2)])
def test_a_number_inside_its_limits_becomes_a_float(value):
    result = check_number("budget", value, at_least=0)

    assert type(result) is float
    assert result == value


@pytest.mark.parametrize(
    ("limits", "value", "message"),
    [
        ({"at_least": 0}, -1, "`budget` must be a number of at least 0, got -1"),
        ({"at_least": 0}, float("nan"), "`budget` must be a finite number of at least 0, got nan"),
        ({"at_least": 0}, float("inf"), "`budget` must be a finite number of at least 0, got inf"),
        ({"at_least": 0}, True, "`budget` must be a finite number of at least 0, got True"),
        ({"at_least": 0}, np.bool_(1), "`budget` must be a number of at least 0, got np.True_"),
        ({"at_least": 0}, "1", "`budget` must be a number of at least 0, got '1'"),
        ({"at_least": 0}, None, "`budget` must be a number of at least 0, got None"),
        ({"at_least": 0}, 1j, "`budget` must be a number of at least 0, got 1j"),
        ({}, np.complex128(1), "`budget` must be a finite number, got np.complex128(1+0j)"),
        ({"above": 0, "below": 1}, 0, "`budget` must be a number above 0 and below 1, got 0"),
        ({"above": 0, "below": 1}, 1, "`budget` must be a number above 0 and below 1, got 1"),
        ({}, [1], "`budget` must be a finite number, got [1]"),
        ({}, -(10**400), f"`budget` must be a finite number, got -1{'0' * 57}…"),
    ],
)
def test_a_number_outside_its_limits_is_refused(limits, value, message):
    with pytest.raises(InputError) as caught:
        check_number("budget", value, **limits)

    assert str(caught.value) == message


@pytest.mark.parametrize("value", ["c", 1, None, ["a"]])
def test_a_choice_lists_the_words(value):
    assert check_choice("way", "a", ("a", "b")) == "a"
    with pytest.raises(InputError) as caught:
        check_choice("way", value, ("a", "b"))

    assert str(caught.value) == f"`way` must be one of 'a', 'b', got {value!r}"


@pytest.mark.parametrize(
    ("value", "shape", "message"),
    [
        ("text", (None,), "`x` must be numeric, got 'text'"),
        ([[1], [1, 2]], (None, None), "`x` must be numeric, got [[1], [1, 2]]"),
        ([1, 2], (3,), "`x` must have shape (3), got (2,)"),
        ([1, 2], (None, 2), "`x` must have shape (any, 2), got (2,)"),
        (1.0, (None,), "`x` must have shape (any), got ()"),
    ],
)
def test_an_array_of_the_wrong_kind_is_refused(value, shape, message):
    with pytest.raises(InputError) as caught:
        check_float_array("x", value, shape)

    assert str(caught.value) == message


def test_an_array_becomes_contiguous_floats():
    array = check_float_array("x", np.arange(6).reshape(2, 3).T, (3, None))

    assert array.dtype == np.float64
    assert array.flags["C_CONTIGUOUS"]


@pytest.mark.parametrize(
    ("array", "nonnegative", "message"),
    [
        ([[0.0, np.nan]], False, "`x` must be finite, got nan at [0, 1]"),
        ([1.0, np.inf], False, "`x` must be finite, got inf at [1]"),
        ([1.0, -0.5], True, "`x` must be finite and >= 0, got -0.5 at [1]"),
    ],
)
def test_an_entry_that_is_not_finite_is_located(array, nonnegative, message):
    with pytest.raises(InputError) as caught:
        check_finite("x", np.array(array), nonnegative=nonnegative)

    assert str(caught.value) == message


def test_negative_numbers_are_finite():
    array = np.array([-1.0])

    assert check_finite("x", array) is array


def test_long_values_are_shown_on_one_short_line():
    picture = short_repr(np.arange(1000).reshape(20, 50))

    assert len(picture) == 60
    assert "\n" not in picture
    assert picture.endswith("…")


class Unshowable:
    def __repr__(self):
        raise RuntimeError


def test_a_value_that_cannot_be_shown_is_named_by_its_type():
    assert short_repr(Unshowable()) == "an object of type Unshowable"


@pytest.mark.parametrize(
    "value",
    [["1"], [b"1"], [1j], [{}], [[1], [1, 2]], [10**400], ["2020-01-01"], [1, "1"], object()],
)
def test_text_complex_and_other_things_are_no_numbers(value):
    with pytest.raises(InputError, match=r"^`x` must be numeric, got"):
        check_float_array("x", value, (None,))


def test_what_is_masked_is_not_forgotten():
    with pytest.raises(InputError, match=r"^`x` must not have masked entries, got 2$"):
        check_float_array("x", np.ma.array([1, 2, 3], mask=[1, 0, 1]), (None,))

    assert check_float_array("x", np.ma.array([1, 2]), (2,)).tolist() == [1, 2]


def test_somebody_elses_exception_is_one_short_line():
    text = describe_error(ValueError("a\nb \ud800" + "x" * 1000))

    assert text.startswith("ValueError: a b ?xxx")
    assert text.endswith("x…")
    assert len(text) <= 220
    assert describe_error(KeyError()) == "KeyError: no reason given"


def test_a_function_that_fails_is_named():
    message = r"^`f` failed: ZeroDivisionError: division by zero$"
    with pytest.raises(InputError, match=message), explain_failures("f"):
        1 / 0  # noqa: B018


def test_a_function_may_say_itself_what_is_wrong():
    own = InputError("as it was")
    with pytest.raises(InputError) as caught, explain_failures("f"):
        raise own

    assert caught.value is own


@pytest.mark.parametrize("value", [np.array([1, 2]), [1], {}, np.nan])
def test_what_cannot_be_compared_is_not_among_others(value):
    assert not is_among(value, [1, "a"])


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True, [1], np.random.RandomState(0)])
def test_a_seed_is_a_whole_number_or_a_generator(seed):
    with pytest.raises(InputError, match=r"^`rng` must be a seed >= 0, a numpy generator or None"):
        check_generator("rng", seed)
