"""What a monitor's model is asked, and what becomes of its answers."""

import pytest
from tests.messages import raises
from tests.monitor.people import asking, biased, people, told, with_guess

import fairtransport as ft


def test_each_question_is_asked_once_over_the_monitors_life(tmp_path):
    asked = []

    def model(points):
        asked.extend(points.itertuples(index=False, name=None))
        return biased(points)

    monitor = asking(model)
    frame = people(300)
    for at in range(0, 300, 50):
        monitor.update(frame.iloc[at : at + 50])
    monitor.save(tmp_path / "state")
    again = ft.Monitor.resume(tmp_path / "state", model=model)
    again.update(frame)

    assert len(asked) == len(set(asked)) == again.queried == 10


def test_scores_of_a_fitted_model():
    from sklearn.linear_model import LogisticRegression

    frame = people(300).assign(group=lambda f: (f["group"] == "b").astype(int))
    model = LogisticRegression().fit(frame[["group", "x"]], frame["good"])
    monitor = ft.Monitor(y="good", model=model, sensitive_features="group", loss="brier",
                         levels={"group": [0, 1]}, delta=0.2)  # fmt: skip
    state = monitor.update(frame)
    result = ft.audit(frame, "good", model=model, sensitive_features="group", loss="brier")

    assert state.statistic == pytest.approx(result.statistic, rel=1e-9)


def test_given_scores_need_to_know_the_labels():
    frame = people(50).assign(score=lambda f: 0.2 + 0.6 * (f["group"] == "a"))
    options = dict(y="good", y_score="score", sensitive_features="group", loss="log", delta=0.1)
    state = ft.Monitor(**options, labels=[0, 1]).update(frame)
    result = ft.audit(frame, "good", y_score="score", sensitive_features="group", loss="log")

    assert state.statistic == pytest.approx(result.statistic, rel=1e-9)
    with pytest.raises(ft.InputError, match="`labels` must list all labels"):
        ft.Monitor(**options)
    with pytest.raises(ft.DataError, match="`labels` must hold every label, but lacks 1"):
        ft.Monitor(**options, labels=[0, 2], pos_label=2).update(frame)


def test_outcomes_need_no_labels():
    frame = with_guess(people(60))
    options = dict(sensitive_features="group", features=["x"], loss="outcome", delta=0.5)
    state = ft.Monitor(y_pred="guess", pos_label=1, **options).update(frame)
    ranged = ft.Monitor(y_pred="guess", loss_range=(0, 1), **options).update(frame)
    result = ft.audit(frame, y_pred="guess", pos_label=1, sensitive_features="group",
                      features=["x"], loss="outcome")  # fmt: skip

    assert state.statistic == ranged.statistic == pytest.approx(result.statistic)
    with pytest.raises(ft.InputError, match="`loss_range` must be given"):
        ft.Monitor(y_pred="guess", **options)


def test_a_failing_model_loses_nothing():
    calls = []

    def flaky(points):
        calls.append(len(points))
        if len(calls) == 2:
            raise TimeoutError
        return biased(points)

    monitor, steady = asking(flaky), asking()
    monitor.update(people(30).assign(x=1))
    with pytest.raises(ft.ModelError, match="TimeoutError"):
        monitor.update(people(100))
    assert monitor.state.n == 30
    monitor.update(people(100))
    steady.update(people(30).assign(x=1))
    steady.update(people(100))

    assert monitor.state == steady.state


def test_a_fitted_model_gets_the_columns_it_knows():
    from sklearn.tree import DecisionTreeClassifier

    frame = people(80).assign(group=lambda f: (f["group"] == "b").astype(int))
    model = DecisionTreeClassifier(random_state=0).fit(frame[["x", "group"]], frame["good"])
    options = dict(y="good", model=model, sensitive_features="group", levels={"group": [0, 1]})
    state = ft.Monitor(**options, delta=0.1).update(frame)
    result = ft.audit(frame, "good", model=model, sensitive_features="group")

    assert state.statistic == pytest.approx(result.statistic, rel=1e-12)
    with raises(ft.InputError, "fitted on (x, group), got group"):
        ft.Monitor(**options, features=["group"], delta=0.1).update(frame)


def test_outcomes_of_a_fitted_model_lie_between_its_labels():
    from sklearn.tree import DecisionTreeClassifier

    frame = people(80).assign(group=lambda f: (f["group"] == "b").astype(int))
    model = DecisionTreeClassifier(random_state=0).fit(frame[["x", "group"]], 3 * frame["good"])
    monitor = ft.Monitor(model=model, sensitive_features="group", levels={"group": [0, 1]},
                         loss="outcome", delta=0.1)  # fmt: skip

    assert monitor.settings.max_gain == 3
    assert monitor.update(frame).n == 80


def test_numbers_as_labels():
    frame = with_guess(people(40))
    options = dict(loss="absolute", loss_range=(0, 1))
    result = ft.audit(frame, "good", y_pred="guess", sensitive_features="group", **options)

    assert told(**options).update(frame).statistic == pytest.approx(result.statistic)
    with pytest.raises(ft.DataError, match="`y` must be numeric for the loss 'absolute'"):
        told(**options).update(frame.assign(good="yes"))


def test_outcomes_outside_the_range_that_the_bets_rely_on_are_refused():
    frame = people(20).assign(score=lambda f: 2.5 * (f["group"] == "a"))
    monitor = ft.Monitor(y_score="score", sensitive_features="group", features=["x"],
                         loss="outcome", delta=0.5)  # fmt: skip

    assert monitor.settings.max_gain == 1
    with raises(ft.DataError, "must lie in [0, 1], got 2.5"):
        monitor.update(frame)
    assert monitor.state.n == 0
