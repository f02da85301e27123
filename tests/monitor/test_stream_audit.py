"""The audit of a stream: verdicts, warnings, the picture."""

from dataclasses import replace

import pandas as pd
import pytest
from tests.monitor.people import LEVELS, asking, biased, people, told, with_guess

import fairtransport as ft


def test_bias_is_rejected_and_its_absence_certified():
    rejected = asking().update(people(500))
    certified = asking(model=lambda points: points["x"] % 2).update(people(500))

    assert rejected.verdict == "rejected"
    assert 0 < rejected.stopped_at < 500
    assert rejected.e_value >= 20
    assert certified.verdict == "certified"
    assert certified.e_value_certificate >= 20
    assert (rejected.target_scope, rejected.warnings) == ("twins", ())


def test_the_statistic_is_that_of_an_audit():
    frame = people(400)
    state = asking().update(frame)
    result = ft.audit(frame, "good", model=biased, sensitive_features="group",
                      features=["group", "x"], levels=LEVELS)  # fmt: skip

    assert state.statistic == pytest.approx(result.statistic, rel=1e-12)
    assert state.lower <= result.statistic <= state.upper


def test_given_predictions_have_the_statistic_of_an_audit_and_are_never_certified():
    frame = with_guess(people(400))
    state = told().update(frame)
    result = ft.audit(frame, "good", y_pred="guess", sensitive_features="group")

    assert state.statistic == pytest.approx(result.statistic, rel=1e-12)
    assert state.verdict == "rejected"
    assert state.upper is None
    assert state.e_value_certificate is None
    assert "nothing can be certified" in state.warnings[0]
    assert told(delta=0.9).update(frame).verdict == "inconclusive"


def test_if_both_verdicts_fall_neither_is_given():
    never = people(400).assign(x=1)
    always = people(2000).assign(x=0)
    state = asking().update(pd.concat([never, always]))

    assert state.verdict == "inconclusive"
    assert state.stopped_at is None
    assert "certified at case" in state.warnings[0]


def test_a_state_can_be_compared():
    state = told().update(with_guess(people(10)))

    assert replace(state, n=11) != state


def test_the_picture_shows_the_statistic_and_the_bounds_at_each_look():
    monitor = asking()
    with pytest.raises(
        ft.InputError, match="a monitor has nothing to plot before its first record"
    ):
        monitor.plot()
    state = monitor.update(people(200))
    chart = monitor.plot().to_dict()
    rows = max(chart["datasets"].values(), key=len)

    looks = [look for look in state.history if look.n < 200]
    assert [row["n"] for row in rows] == [*(look.n for look in looks), 200]
    assert [row["statistic"] for row in rows] == [
        *(look.statistic for look in looks), state.statistic,
    ]  # fmt: skip
    assert all(row["lower"] <= row["upper"] for row in rows)


def test_text_and_picture_agree_on_when_the_bound_crossed(capsys):
    from fairtransport.monitor.follow import print_evidence

    monitor = asking()
    state = monitor.update(people(500))
    looks = [look for look in state.history if look.lower > monitor.settings.delta]
    chart = monitor.plot().to_dict()
    print_evidence(monitor, "people")
    screen = " ".join(capsys.readouterr().out.replace("│", " ").split())

    assert monitor.above_since == looks[0].n
    # evidence and bounds are separate processes
    assert monitor.above_since != state.stopped_at
    crossed = f"from the look after {monitor.above_since:,} people on"
    fell = f"at case {state.stopped_at:,}, when the evidence sufficed"
    assert f"Lower bound above δ {crossed}" in screen
    assert f"The lower bound is above δ {crossed}" in chart["title"]["subtitle"]
    assert fell in screen
    line = f"Vertical line: over the limit (rejected) after {state.stopped_at:,} people"
    assert line in chart["title"]["subtitle"]
    drawn = [row for rows in chart["datasets"].values() for row in rows]
    assert {"n": state.stopped_at, "words": f"verdict after {state.stopped_at:,} people"} in drawn


def test_a_bound_that_never_crossed_is_told():
    monitor = asking(model=lambda points: points["x"] % 2)
    monitor.update(people(60))

    assert monitor.above_since is None
    assert "The lower bound is above δ at no look" in monitor.plot().to_dict()["title"]["subtitle"]


def by_x(points):
    return (points["x"] > 1).astype(int)


@pytest.mark.parametrize("features", [["x"], None])
def test_what_is_0_by_construction_is_not_certified(features, capsys):
    """A model without the group cannot tell twins apart, as an audit says too."""
    from fairtransport.monitor.follow import print_evidence

    frame = people(400)
    monitor = asking(model=by_x, features=features)
    assert monitor.state.verdict == ("inconclusive" if features is None else "not-applicable")
    state = monitor.update(frame)
    found = ft.audit(frame, "good", model=by_x, sensitive_features="group", features=features,
                     levels=LEVELS, delta=0.1)  # fmt: skip
    print_evidence(monitor, "people")
    screen = " ".join(capsys.readouterr().out.replace("│", " ").split())

    if features is None:  # then it receives the group and does not use it
        # early records rarely differ: a stream goes by columns alone, an audit by answers too
        assert state.verdict == found.bounds_verdict == "certified"
        assert found.verdict == "not-applicable"
        assert "Evidence of at most δ" in screen
        return
    assert (state.verdict, found.verdict) == ("not-applicable", "not-applicable")
    assert state.applicability.startswith(found.applicability)
    assert "This audit cannot tell: the model does not receive group" in screen
    assert "Evidence" not in screen


def test_a_certificate_that_the_bounds_do_not_show_yet_is_explained(capsys):
    from fairtransport.monitor.follow import print_evidence

    seen = 0
    for seed in range(10):
        monitor, records = asking(delta=0.6), people(400, seed)
        for at in range(400):
            state = monitor.update(records.iloc[[at]])
            if state.verdict == "certified":
                break
        assert state.verdict == "certified"
        print_evidence(monitor, "people")
        screen = " ".join(capsys.readouterr().out.replace("│", " ").split())
        behind = state.upper > 0.6
        seen += behind
        faded = state.e_value_certificate < 20
        assert ("δ-fairness was certified at case" in screen) == (behind or faded)
    assert seen
