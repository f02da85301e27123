import io
import sys
import time

from fairtransport import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_nobody_watching_sees_no_bar():
    assert list(progress.track(iter([1, 2]), 2, "Work")) == [1, 2]


def test_short_work_shows_no_bar(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    assert list(progress.track(range(5), 5, "Work")) == [0, 1, 2, 3, 4]
    assert screen.getvalue() == ""


def test_long_work_shows_how_far_it_is(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    done = []
    for item in progress.track(range(4), 4, "Work"):
        time.sleep(0.02)
        done.append(item)
    assert done == [0, 1, 2, 3]
    assert "Work" in screen.getvalue()


def test_questions_say_which_draw_they_are_of(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.drawing(2, 5), progress.priced(100):
        answered = list(progress.track_questions(iter([([0, 1], "yes")]), 4, 1))
    assert answered == [([0, 1], "yes")]
    assert "draw 3 of 5: asked 3 of 4 (" in " ".join(screen.getvalue().split())
    assert "cost 0.20 of 0.30" in " ".join(screen.getvalue().split())


def test_silence_shows_no_bar_however_long_it_takes(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.silence():
        for _ in progress.track(range(3), 3, "Work"):
            time.sleep(0.01)
    assert screen.getvalue() == ""
    for _ in progress.track(range(3), 3, "Work"):
        time.sleep(0.01)
    assert "Work" in screen.getvalue()
