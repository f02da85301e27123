"""Every answer is kept as it arrives; no answer of another system is ever taken for it."""

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from tests.messages import raises

import fairtransport as ft
from fairtransport.access import oracle as batches
from fairtransport.access import query_log
from fairtransport.access.query_log import QueryLog, System
from fairtransport.errors import FairtransportError, InputError, ModelError

PEOPLE = pd.DataFrame({
    "g": ["a", "b"] * 60, "x": np.arange(120) // 2, "good": [0, 1, 1, 0, 1, 0] * 20,
})  # fmt: skip


class Counted:
    """A callable that counts how often it was asked about each point, and may fail half way."""

    def __init__(self, fails_at=None, shift=0):
        self.asked, self.fails_at, self.shift = {}, fails_at, shift

    def __call__(self, points):
        if self.fails_at is not None and len(self.asked) >= self.fails_at:
            msg = "gone"
            raise ConnectionError(msg)
        for one in points.itertuples(index=False):
            self.asked[tuple(one)] = self.asked.get(tuple(one), 0) + 1
        return ((points["x"] + self.shift + (points["g"] == "a")) % 3 == 0).astype(int).to_numpy()


def audited(model, log, **more):
    settings = {"sensitive_features": "g", "rng": 0, "delta": 0.05} | more
    return ft.audit(PEOPLE, "good", model=model, queries=ft.Queries(log=log, repeats=0), **settings)


def named(model, identity="box 1"):
    return ft.access.named(model, identity)


def test_a_model_that_dies_half_way_is_asked_for_the_rest_alone(tmp_path):
    log, whole = tmp_path / "a.sqlite", Counted()
    plain = ft.audit(PEOPLE, "good", model=whole, sensitive_features="g", rng=0, delta=0.05)
    dying = Counted(fails_at=64)
    with pytest.raises(
        ModelError, match=r"gone; 64 of 120 answers are in the query log 'a.sqlite'"
    ):
        audited(named(dying), log)
    rest = Counted()
    result = audited(named(rest), log)

    assert len(dying.asked) == 64
    assert set(rest.asked) == set(whole.asked) - set(dying.asked)
    assert result.statistic == plain.statistic
    assert result.lower_bound == plain.lower_bound
    assert result.queried == plain.queried == 120
    assert [one.name for one in tmp_path.iterdir()] == ["a.sqlite"]


def test_an_audit_is_repeated_without_the_system(tmp_path):
    log = tmp_path / "a.sqlite"
    first = audited(named(Counted()), log)
    again = audited(ft.access.load(log), None)

    assert again.document().to_json().replace(
        again.model, ""
    ) == first.document().to_json().replace(first.model, "")
    with pytest.raises(ModelError, match="has no answer of this kind to 120 of 120 queries"):
        audited(ft.access.load(log), None, loss="brier", pos_label=1)
    more = PEOPLE.assign(x=PEOPLE["x"] + 1)
    with raises(ModelError, "no answer of this kind to 2 of 120 ", "('a', 60)"):
        ft.audit(more, "good", model=ft.access.load(log), sensitive_features="g")


@pytest.mark.parametrize("read_only", [False, True])
def test_a_log_where_nothing_can_be_written_is_still_read(tmp_path, read_only):
    log = tmp_path / "place" / "a.sqlite"
    log.parent.mkdir()
    first = audited(named(Counted()), log)
    if read_only:
        log.chmod(0o400)
        log.parent.chmod(0o500)
    try:
        assert audited(ft.access.load(log), None).statistic == first.statistic
    finally:
        log.parent.chmod(0o700)


def test_answers_of_another_system_are_never_reused(tmp_path):
    log = tmp_path / "a.sqlite"
    audited(named(Counted()), log)
    for identity, shift in (("box 2", 1), ("box 1 ", 2)):
        other = Counted(shift=shift)
        result = audited(named(other, identity), log)
        plain = ft.audit(PEOPLE, "good", model=Counted(shift=shift), sensitive_features="g")
        assert len(other.asked) == 120
        assert result.statistic == plain.statistic
    same = Counted()
    audited(named(same), log)
    assert not same.asked


def test_answers_to_other_columns_or_of_another_kind_are_never_reused(tmp_path):
    log, frame = tmp_path / "a.sqlite", PEOPLE.assign(z=1)
    score = Counted()
    for settings, asked in (
        ({"features": ["g", "x"]}, 120),
        ({"features": ["g", "x", "z"]}, 120),
        ({"features": ["g", "x"], "loss": "brier", "pos_label": 1}, 120),
        ({"features": ["g", "x"], "loss": "brier", "pos_label": 0}, 120),
        ({"features": ["g", "x"], "loss": "brier", "pos_label": 0}, 0),
    ):
        score.asked.clear()
        ft.audit(
            frame,
            "good",
            model=named(score),
            sensitive_features="g",
            queries=ft.Queries(log=log, repeats=0),
            **settings,
        )
        assert len(score.asked) == asked


def test_text_numbers_and_truth_values_are_different_questions():
    values = ["1", 1, 1.0, True, None]
    one = System("box", ("x",), "label")
    from fairtransport.access.query_log import write_question

    assert len({write_question((value,)) for value in values}) == len(values)
    assert one.key != System("box", ("y",), "label").key


@pytest.mark.slow
def test_an_estimator_is_known_by_what_it_holds(tmp_path):
    log = tmp_path / "a.sqlite"
    rows = PEOPLE.assign(g=(PEOPLE["g"] == "a").astype(int))
    one, other = (LogisticRegression(C=c).fit(rows[["g", "x"]], rows["good"]) for c in (1.0, 0.01))

    def asked(model):
        ft.audit(rows, "good", model=model, sensitive_features="g", queries=ft.Queries(log=log))
        return [identity for identity, _, _ in _contents(log)]

    assert len(asked(one)) == 1
    assert len(asked(LogisticRegression().fit(rows[["g", "x"]], rows["good"]))) == 1
    assert len(asked(other)) == 2


def _contents(log):
    from fairtransport.access.query_log import contents

    return contents(log)


def test_scores_come_back_to_the_last_bit(tmp_path):
    log = tmp_path / "a.sqlite"
    rows = PEOPLE.assign(g=(PEOPLE["g"] == "a").astype(int))
    model = LogisticRegression().fit(rows[["g", "x"]], rows["good"])

    def asked_of(one, path):
        return ft.audit(
            rows,
            "good",
            model=one,
            sensitive_features="g",
            loss="log",
            queries=ft.Queries(log=path),
            rng=0,
        )

    asked = [asked_of(model, log), asked_of(model, log), asked_of(ft.access.load(log), None)]
    assert len({result.statistic for result in asked}) == 1
    assert len({result.lower_bound for result in asked}) == 1


def test_what_cannot_be_used_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "LOGGED_BATCH_SIZE", 50)
    log = tmp_path / "a.sqlite"
    calls = []

    def broken(points):
        calls.append(len(points))
        return np.full(len(points), 7) if len(calls) == 2 else np.ones(len(points), int)

    with pytest.raises(ModelError, match=r"unknown label 7.*; 50 of 120 answers"):
        audited(named(broken), log)
    audited(named(broken), log)
    assert calls == [50, 50, 50, 20]


def spoil(path, statement):
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("UPDATE answers SET answer = '1' WHERE answer = '0'", "was changed: an answer to"),
        ("UPDATE answers SET question = '[\"c\", 1]' WHERE draw = 0 AND question LIKE '%\"a\", 1]'",
         "was changed: an answer to"),
        ("UPDATE systems SET identity = 'another'", "was changed: entry 1"),
        ("UPDATE systems SET about = 'nothing'", "was changed: entry 1"),
        ("PRAGMA user_version = 2", "a later fairtransport"),
        ("PRAGMA application_id = 1", "not a query log of fairtransport"),
        ("DROP TABLE answers", "is damaged or not a query log"),
    ],
)  # fmt: skip
def test_a_log_that_was_changed_is_refused(tmp_path, statement, sentence):
    log = tmp_path / "a.sqlite"
    audited(named(Counted()), log)
    spoil(log, statement)
    with pytest.raises(FairtransportError, match=sentence):
        audited(ft.access.load(log), None)
    if "systems" not in statement:  # a changed entry is nobody's, and its questions are asked
        with pytest.raises(FairtransportError, match=sentence):
            audited(named(Counted()), log)


@pytest.mark.parametrize(
    "content", [b"no database at all, but text " * 50, b"SQLite format 3\0junk"]
)
def test_a_file_that_is_no_log_is_refused(tmp_path, content):
    log = tmp_path / "a.sqlite"
    log.write_bytes(content)
    for model, path in ((named(Counted()), log), (log, None)):
        with pytest.raises(
            InputError, match=r"^the query log 'a.sqlite' is damaged or not a query log"
        ):
            audited(ft.access.load(model) if path is None else model, path)
    assert log.read_bytes() == content


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").touch()
    box = Counted()
    with raises(InputError, "'a.sqlite' could not be opened for writing (unable"):
        audited(named(box), tmp_path / "file" / "a.sqlite")
    assert not box.asked


def test_a_log_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    log, opened = tmp_path / "a.sqlite", QueryLog._open_file
    audited(named(Counted()), log)
    before = log.read_bytes()
    # permissions are nothing to root: SQLite is told that the file may only be read
    monkeypatch.setattr(QueryLog, "_open_file", lambda self, **_: opened(self, read_only=True))
    with raises(InputError, "'a.sqlite' could not be opened ", "readonly"):
        audited(named(Counted(), "box 2"), log)
    assert log.read_bytes() == before


@pytest.mark.parametrize(
    ("log", "model", "sentence"),
    [
        (
            "a.db",
            "named",
            "`queries.log` must be the path of a file that ends in .sqlite, got 'a.db'",
        ),
        (7, "named", "`queries.log` must be the path of a file that ends in .sqlite, got 7"),
        ("no/such/a.sqlite", "named", "the query log 'a.sqlite' could not be opened for writing"),
        (
            "a.sqlite",
            "callable",
            "the callable Counted lacks; give it one: fairtransport.access.na",
        ),
        ("a.sqlite", "none", "`queries.log` must be given with a `model`"),
    ],
)
def test_logs_that_cannot_be_kept(tmp_path, monkeypatch, log, model, sentence):
    monkeypatch.chdir(tmp_path)
    given = {"named": named(Counted()), "callable": Counted(), "none": None}[model]
    predicted = {"y_pred": "x"} if given is None else {}
    with pytest.raises(InputError) as caught:
        audited(given, log, **predicted)
    assert sentence in str(caught.value)


def test_an_empty_log_and_one_of_several_systems_stand_for_nobody(tmp_path):
    log = tmp_path / "a.sqlite"
    with QueryLog(log).open():
        pass
    with pytest.raises(InputError, match="has those of no model"):
        ft.access.load(log)
    audited(named(Counted()), log)
    audited(named(Counted(), "box 2"), log)
    with pytest.raises(InputError, match="'named: box 1', 'named: box 2'; `fairtransport log exp"):
        ft.access.load(log)
    assert ft.access.recorded(log, "named: box 2").identity == "named: box 2"
    with pytest.raises(InputError, match="`identity` must be one of those in the query log"):
        ft.access.recorded(log, "box 2")
    with pytest.raises(InputError, match=r"`queries\.log` must be given once"):
        audited(ft.access.recorded(log, "named: box 1"), log)


@pytest.mark.parametrize("identity", ["", " ", 7, None])
def test_a_name_must_name_something(identity):
    with pytest.raises(InputError, match="`identity` must be text that names the model"):
        ft.access.named(len, identity)


def test_code_from_nowhere_has_no_identity(tmp_path):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    rows = PEOPLE.assign(g=1)
    for function in (Counted, lambda x: x):
        model = make_pipeline(FunctionTransformer(), LogisticRegression()).fit(
            rows[["g", "x"]], rows["good"]
        )
        model.set_params(functiontransformer__func=function)
        with pytest.raises(InputError, match="needs a model with an identity"):
            ft.access.logged(model, tmp_path / "a.sqlite")


@pytest.mark.parametrize("error", [RuntimeError, SystemExit, GeneratorExit, KeyboardInterrupt])
def test_a_model_whose_content_cannot_be_told_has_no_identity(error, tmp_path):
    class Odd(LogisticRegression):
        def __reduce_ex__(self, protocol):
            raise error

    model = Odd().fit(PEOPLE[["x"]], PEOPLE["good"])
    expected = error if error is KeyboardInterrupt else InputError
    with pytest.raises(expected, match=None if error is expected else "cannot be hashed"):
        ft.access.logged(model, tmp_path / "a.sqlite")


def test_two_who_write_at_the_same_time_agree(tmp_path):
    log, system = QueryLog(tmp_path / "a.sqlite"), System("box", ("x",), "label")
    kept, start = {}, threading.Barrier(4)

    def write(who):
        start.wait()
        with log.open() as store:
            for at in range(40):
                kept[who, at] = store.add(system, [((f"[{at}]", 0), who)])[f"[{at}]", 0]

    writers = [threading.Thread(target=write, args=(who,)) for who in range(4)]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    with log.open(read_only=True) as store:
        final = dict(store.entries(system))

    assert len(final) == 40
    assert all(final[f"[{at}]", 0] == kept[who, at] for who in range(4) for at in range(40))


def being_made(path):
    """Return a connection that holds a new file, as whoever makes a log of it does."""
    maker = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    maker.execute("BEGIN IMMEDIATE")
    return maker


def test_who_comes_while_another_makes_the_log_waits(tmp_path):
    """SQLite itself would turn it away at once."""
    path = tmp_path / "a.sqlite"
    with closing(being_made(path)) as maker:
        leaving = threading.Timer(0.2, maker.execute, ["ROLLBACK"])
        leaving.start()
        with QueryLog(path).open() as store:
            assert store.systems() == []
        leaving.join()


def test_who_waits_in_vain_is_told_so(tmp_path, monkeypatch):
    monkeypatch.setattr(query_log, "MAX_LOCK_SECONDS", 0.05)
    path = tmp_path / "a.sqlite"
    with (
        closing(being_made(path)),
        pytest.raises(InputError, match="in use by another process"),
        QueryLog(path).open(),
    ):
        pass


def test_a_family_keeps_one_log(tmp_path):
    log, model = tmp_path / "a.sqlite", Counted()
    settings = {
        "sensitive_features": "g",
        "model": named(model),
        "queries": ft.Queries(log=log, repeats=0),
        "rng": 0,
    }
    for asked in (1, 0):
        ft.audit_many(
            PEOPLE, "good", audits={"one": {"delta": 0.1}, "two": {"delta": 0.2}}, **settings
        )
        assert set(model.asked.values()) <= {1}
        assert len(model.asked) == 120 * asked
        model.asked.clear()


def test_an_interrupt_says_how_to_go_on(tmp_path):
    log = tmp_path / "a.sqlite"
    model = Counted()

    def interrupted(points):
        if len(model.asked) >= 64:
            raise KeyboardInterrupt
        return model(points)

    with pytest.raises(KeyboardInterrupt, match="64 of 120 answers are in the query log"):
        audited(named(interrupted), log)
    audited(named(model), log)
    assert set(model.asked.values()) == {1}


LATER = """
import sys
import fairtransport as ft
import pandas as pd
frame = pd.read_csv("people.csv")
print(ft.audit(frame, "good", model=ft.access.load("a.sqlite"), sensitive_features="g",
               rng=0).statistic)
"""


@pytest.mark.slow
def test_another_process_reads_what_this_one_wrote(tmp_path):
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    result = audited(named(Counted()), tmp_path / "a.sqlite")
    done = subprocess.run(
        [sys.executable, "-c", LATER], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert float(done.stdout) == result.statistic


def test_a_comparison_keeps_the_answers_of_all_models(tmp_path):
    log = tmp_path / "a.sqlite"

    def compared(*models, **more):
        old, new = (named(model, f"box {at}") for at, model in enumerate(models))
        return ft.compare(
            PEOPLE, "good", models={"old": old, "new": new}, sensitive_features="g", rng=0, **more
        )

    with pytest.raises(ModelError, match=r"gone; 64 of 120 answers are in"):
        compared(Counted(), Counted(fails_at=64, shift=1), queries=ft.Queries(log=log, repeats=0))
    rest = Counted(), Counted(shift=1)
    found = compared(*rest, queries=ft.Queries(log=log, repeats=0))

    assert [len(model.asked) for model in rest] == [0, 56]
    expected = compared(Counted(), Counted(shift=1))
    assert found.summary.differences == expected.summary.differences


def test_a_monitor_keeps_answers_and_asks_nothing_twice(tmp_path):
    def watched(model, log=tmp_path / "a.sqlite"):
        return ft.Monitor(
            y="good", model=named(model), sensitive_features="g", levels={"g": ["a", "b"]},
            delta=0.1, queries=ft.Queries(log=log),
        )  # fmt: skip

    first, again = Counted(), Counted()
    seen = watched(first)
    for record in PEOPLE.head(40).to_dict("records"):
        seen.update(record)
    seen.save(tmp_path / "state")
    assert set(first.asked.values()) == {1}
    assert watched(again).update(PEOPLE.head(40)) == seen.state
    assert not again.asked

    resumed = ft.Monitor.resume(
        tmp_path / "state", model=named(again), queries=ft.Queries(log=tmp_path / "a.sqlite")
    )
    assert resumed.update(PEOPLE.tail(80)) == watched(Counted(), None).update(PEOPLE)
    # a few earlier questions go along when a resumed monitor first asks
    assert len(again.asked) == 80 + 8
    with pytest.raises(InputError, match=r"`queries\.log` must be given with a `model`"):
        ft.Monitor(
            y="good",
            y_pred="x",
            sensitive_features="g",
            delta=0.1,
            queries=ft.Queries(log="a.sqlite"),
        )
