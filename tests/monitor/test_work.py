"""What a monitor does for each record: counted, not timed."""

from tests.monitor.people import asking, people, told, with_guess

from fairtransport.inference import sequential_kernels
from fairtransport.monitor import streams


def count_calls(monkeypatch, owner, name):
    inner, calls = getattr(owner, name), []

    def outer(*args, **kwargs):
        calls.append(args)
        return inner(*args, **kwargs)

    monkeypatch.setattr(owner, name, outer)
    return calls


def records(n):
    return with_guess(people(n)).to_dict("records")


def test_a_record_asks_a_model_at_most_once_and_about_new_points_alone():
    asked = []

    def model(points):
        asked.append(len(points))
        return ((points["x"] == 0) & (points["group"] == "a")).astype(int)

    monitor = asking(model)
    stream = [{name: one[name] for name in ("group", "x", "good")} for one in records(60)]
    for record in stream:
        calls = len(asked)
        monitor.update(record)
        assert len(asked) - calls <= 1

    # two groups at five values of x
    assert sum(asked) == monitor.queried == 2 * len({one["x"] for one in stream})


def test_weights_and_factors_are_computed_when_columns_are_decided_not_for_each_record(monkeypatch):
    weighed = count_calls(monkeypatch, sequential_kernels, "weigh")
    monitor = told()
    factors = count_calls(monkeypatch, monitor._stream.evidence.bets, "_factors")
    revised = count_calls(monkeypatch, monitor._stream.evidence.bets, "revise")
    decided = count_calls(monkeypatch, monitor._stream.evidence.bets, "_open_bets")
    for record in records(300):
        monitor.update(record)

    assert 0 < len(decided) < 100
    assert len(weighed) <= 1 + len(decided) + len(revised)
    assert len(factors) <= len(decided) + len(revised)


def test_the_next_look_is_found_once_a_look(monkeypatch):
    searches = count_calls(monkeypatch, streams, "next_look")
    monitor = told()
    for record in records(300):
        monitor.update(record)

    assert len(searches) <= len(monitor.state.history) + 1
