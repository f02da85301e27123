import io
import sys
from types import SimpleNamespace

import pytest

from fairtransport._core import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """Return a clock that only the test advances."""

    class Clock:
        now = 0.0

        def sleep(self, seconds):
            self.now += seconds

    made = Clock()
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: made.now))
    return made


def test_nobody_watching_sees_no_bar():
    assert list(progress.track(iter([1, 2]), 2, "Work")) == [1, 2]


def test_short_work_shows_no_bar(monkeypatch, clock):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    for _ in progress.track(range(5), 5, "Work"):
        clock.sleep(0.99 * progress.PATIENCE / 5)
    assert screen.getvalue() == ""


def test_long_work_shows_how_far_it_is(monkeypatch, clock):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    done = []
    for item in progress.track(range(4), 4, "Work"):
        clock.sleep(1.01 * progress.PATIENCE / 4)
        done.append(item)
    assert done == [0, 1, 2, 3]
    assert "Work" in screen.getvalue()


def test_questions_say_which_draw_they_are_of(monkeypatch, clock):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.with_draw(2, 5), progress.with_price(100):
        answered = []
        for item in progress.track_questions(iter([([0, 1], "yes")]), 4, 1):
            clock.sleep(1.0)
            answered.append(item)
    assert answered == [([0, 1], "yes")]
    line = "draw 3 of 5: 3 of 4 queries (2 a second, cost 0.20 of 0.30)"
    assert line in " ".join(screen.getvalue().split())


def test_fast_answers_are_counted_in_whole_numbers(monkeypatch, clock):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    for _ in progress.track_questions(iter([([0] * 1200, "yes")]), 5000, 0):
        clock.sleep(10.0)
    assert "1,200 of 5,000 queries (120 a second)" in " ".join(screen.getvalue().split())


def test_silence_shows_no_bar_however_long_it_takes(monkeypatch, clock):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with progress.silence():
        for _ in progress.track(range(3), 3, "Work"):
            clock.sleep(progress.PATIENCE)
    assert screen.getvalue() == ""
    for _ in progress.track(range(3), 3, "Work"):
        clock.sleep(progress.PATIENCE)
    assert "Work" in screen.getvalue()


def test_a_listener_is_told_first_last_and_now_and_then(clock):
    told = []
    with progress.with_listener(lambda *how_far: told.append(how_far)):
        for _ in progress.track(range(10), 10, "Work"):
            clock.sleep(0.45 * progress.PAUSE)
    list(progress.track(range(2), 2, "Nobody listens"))

    assert told[0] == ("Work", 0, 10)
    assert told[-1] == ("Work", 10, 10)
    assert [done for _, done, _ in told] == [0, 3, 6, 9, 10]
