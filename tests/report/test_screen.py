"""Nothing in the data can colour, move, hide or forge what is printed."""

import io
import unicodedata
from dataclasses import replace
from importlib import import_module

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairtransport as ft
from fairtransport.audits.summarise import summarise_headline
from fairtransport.documents.verdicts import VERDICTS
from fairtransport.monitor.follow import print_evidence
from fairtransport.report import console as lines
from fairtransport.report import terminal as results
from fairtransport.report.console import DIRECTIONS, readable
from fairtransport.report.terminal import print_moves, print_result
from tests.report.samples import sample

HOSTILE = "[red]a[/red]\x1b[31m\x1b]0;title\x07\u202e:smile:\r\nError: forged\x9b2J"


@pytest.fixture
def wide(monkeypatch):
    """Make the screen as wide as asked for."""
    return lambda width: monkeypatch.setenv("COLUMNS", str(width))


def audited(**options):
    people = pd.DataFrame({HOSTILE: ["a", "b"] * 60, "good": [1, 1, 0, 0] * 30})
    return ft.audit(
        people, "good", model=lambda x: [int(one == "a") for one in x[HOSTILE]],
        features=[HOSTILE], sensitive_features=[HOSTILE], rng=0, **options,
    )  # fmt: skip


def refuse_controls(text):
    for character in text.replace("\n", ""):
        assert character not in DIRECTIONS
        assert unicodedata.category(character) not in {"Cc", "Cs"}


@given(st.text(st.characters()))
def test_readable_text_holds_no_control(text):
    refuse_controls(readable(text))
    assert "\n" not in readable(text)
    readable(text).encode("utf-8")


def test_a_notebook_gets_the_text_of_a_result_as_text(monkeypatch):
    """Rich shows what is printed in a notebook, whatever file it is printed to."""
    summary = sample()
    plain = results.result_text(summary, "A model")
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)

    assert results.result_text(summary, "A model") == plain
    assert plain.startswith("OVER THE LIMIT")


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"])))
def test_ordinary_text_stays_as_it_is(text):
    assert readable(text) == text


def test_strings_of_the_data_are_shown_and_not_obeyed(capsys, wide):
    wide(300)
    result = audited(delta=0.3)
    title = HOSTILE + "\ud800"  # half a character, as in a file's name
    results.print_result(summarise_headline(result), title)
    lines.print_error(HOSTILE)
    lines.print_note(HOSTILE)
    out, err = capsys.readouterr()

    refuse_controls(out + err)
    assert "[red]a[/red]" in out
    assert r"\x1b]0;title\x07" in out
    assert r"\u202e:smile:" in out
    assert err.count("\n") == 1


def hostile_moves(rows):
    """As many profiles as rows, each with a twin who is treated otherwise."""
    people = pd.DataFrame(
        {
            "x": [f"{HOSTILE}{at}" for at in range(rows)] * 2,
            "race": ["a"] * rows + ["b"] * rows,
            "good": [1] * rows + [0] * rows,
        }
    )
    return ft.audit(people, "good", model=lambda points: (points["race"] == "a").astype(int),
                    sensitive_features="race", features=["x", "race"], rng=0)  # fmt: skip


def test_moves_are_shown_and_not_obeyed(capsys, wide):
    wide(300)
    result = hostile_moves(6)
    print_moves(summarise_headline(result))
    out = capsys.readouterr().out

    refuse_controls(out)
    assert len(result.moved) == 12
    assert out.count("[red]a[/red]") == 10
    assert "10 of 12 swaps are shown" in out


def test_without_moves_there_is_no_table(capsys):
    people = pd.DataFrame({"race": ["a", "b"], "good": [1, 0], "guess": [1, 0]})
    result = ft.audit(people, "good", y_pred="guess", sensitive_features="race")
    print_moves(summarise_headline(result))

    assert capsys.readouterr().out == ""


def disagreeing(**options):
    people = pd.DataFrame({
        "race": ["a", "a", "b", "b"] * 30, "age": [20.0, 20.0, 30.0, 20.0] * 30,
        "good": 1, "guess": [1, 0, 1, 1] * 30,
    })  # fmt: skip
    return ft.audit(people, "good", y_pred="guess", sensitive_features="race", rng=0, **options)


def test_the_panel_tells_disagreement_apart_and_names_the_features(capsys, wide):
    wide(120)
    # without a range of losses there are no rates
    result = disagreeing(loss="squared", method="limit-law")
    results.print_result(summarise_headline(result), "people", verbose=True)
    out = " ".join(capsys.readouterr().out.replace("│", " ").split())

    assert 0 < result.disagreement < result.statistic
    assert (
        f"from unequal predictions {result.disagreement:.4f}, for people with equal values" in out
    )
    assert "Features race, age" in out
    assert "Some people with equal values in all columns have different predictions" in out
    assert "race a, age 20 the same profile 1 1 → 0" in out
    assert "age 20 race: b → a 1 1 → 0" in out


def rejected(**options):
    people = pd.DataFrame({"race": ["a", "b"] * 60, "good": 1})
    return ft.audit(
        people, "good", model=lambda x: (x["race"] == "a").astype(int), features=["race"],
        sensitive_features="race", delta=0.2, rng=0, **options,
    )  # fmt: skip


@pytest.mark.parametrize("width", [60, 70, 80, 90])
def test_a_p_value_stays_on_one_line(width, capsys, wide):
    wide(width)
    results.print_result(summarise_headline(rejected()), "people", verbose=True)

    assert "p<0.0001." in capsys.readouterr().out


def test_levels_are_not_rounded_away(capsys, wide):
    wide(120)
    result = rejected(alpha=0.005)
    results.print_result(summarise_headline(result), "people", verbose=True)
    out = capsys.readouterr().out

    assert "rejected at level 0.5 %" in out
    assert "at level 99.5 %" in out


def test_a_rejection_that_the_bounds_do_not_show_is_explained(capsys, wide):
    wide(120)
    monitor = ft.Monitor(y="good", y_pred="guess", sensitive_features="race", delta=0.1)
    monitor.update([{"race": "ab"[at % 2], "good": 1, "guess": at % 2} for at in range(40)])
    print_evidence(monitor, "people")
    plain = capsys.readouterr().out
    monitor.update([{"race": "c", "good": 0, "guess": 0}] * 2000)
    print_evidence(monitor, "people")
    out = " ".join(capsys.readouterr().out.split())

    assert "separate processes" not in plain
    assert monitor.state.e_value < 20
    assert f"δ-fairness was rejected at case {monitor.state.stopped_at}, when" in out
    assert "separate processes" in out


def test_large_evidence_is_cut(capsys, wide):
    wide(120)
    monitor = ft.Monitor(y="good", y_pred="guess", sensitive_features="race", delta=0.1)
    monitor.update([{"race": "ab"[at % 2], "good": 1, "guess": at % 2} for at in range(400)])
    print_evidence(monitor, "people")

    assert monitor.state.e_value > 1e6
    assert "> 10^6, enough at 20" in capsys.readouterr().out


@pytest.mark.parametrize("width", [60, 120])
@pytest.mark.parametrize("delta", [None, 0.0, 0.3, 0.9])
def test_screens_fit(width, delta, capsys, wide):
    wide(width)
    result = audited(delta=delta)
    results.print_result(summarise_headline(result), "people.csv, 120 cases", verbose=True)
    lines = capsys.readouterr().out.splitlines()

    assert max(map(len, lines)) <= width
    start, end = (
        next(at for at, line in enumerate(lines) if line.startswith(corner)) for corner in "╭╰"
    )
    frame = lines[start : end + 1]
    assert len({len(line) for line in frame}) == 1
    words = " ".join(" ".join(lines).replace("│", " ").split())
    assert f"FaiTH statistic {result.statistic:.4f}" in words
    for verdict, row in VERDICTS.items():
        assert (row.title.upper() in words) == (verdict == result.verdict)


@pytest.mark.parametrize(
    ("delta", "colour"), [(0.0, "\x1b[1;31m"), (0.9, "\x1b[1;34m"), (0.5, "\x1b[1;33m")]
)
def test_the_verdict_has_its_colour_on_a_terminal(delta, colour, monkeypatch):
    from rich.console import Console

    stream = io.StringIO()
    terminal = Console(file=stream, force_terminal=True, width=100, color_system="standard")
    for module in ("terminal", "console"):
        monkeypatch.setattr(
            import_module(f"fairtransport.report.{module}"), "terminal", lambda **_: terminal
        )
    result = audited(delta=delta)
    headline = summarise_headline(result)
    headline = replace(headline, verdict=result.bounds_verdict, applicability=None, advice=None)
    results.print_result(headline, "people")

    assert colour in stream.getvalue()


def test_no_colour_without_a_terminal(capsys):
    results.print_result(summarise_headline(audited(delta=0.0)), "people")

    assert "\x1b" not in capsys.readouterr().out


def test_of_many_columns_a_row_tells_what_differs_and_folds_the_rest(capsys, wide):
    from tests.report.samples import sample

    wide(300)
    columns = {f"column{at}": at for at in range(19)} | {"sex": "f"}
    move = replace(
        sample().moves[0], from_profile=columns, to_profile=columns | {"sex": "m"}, changed=("sex",)
    )
    print_moves(sample(moves=(move,), moves_found=1))
    out = " ".join(capsys.readouterr().out.split())

    assert "sex: f → m" in out
    assert "column4 4, and 14 more columns" in out
    assert "column5 5" not in out


def test_the_screen_says_what_the_threshold_is_in_people(capsys, wide):
    from tests.report.samples import sample

    wide(300)
    print_result(sample(delta=0.02), "people", verbose=True)
    may_have = "may have a correct decision while a similar person would get a wrong one"
    assert f"δ = 0.02: at most 2 % of all people {may_have}" in capsys.readouterr().out
    print_result(sample(delta=0.0), "people", verbose=True)
    assert f"δ = 0: nobody {may_have}" in capsys.readouterr().out
