"""Whatever goes wrong between an audit and its model, a rerun completes and asks nothing twice."""

import json
import threading
import time

import pytest
from tests.access.faulty import FAULTS, KILLS, Faulty, questions_in
from tests.access.models_of_people import FEATURES, people

import fairtransport as ft
from fairtransport.access import connect

PEOPLE, BATCH = people(60), 10
TIMEOUT = {"slow": 1.5, "drip": 1.5}
"""Seconds to wait; what comes at all comes sooner, also where a machine is busy."""
FAILING = [
    (fault, at_a_time) for fault in sorted(FAULTS.keys() - KILLS.keys()) for at_a_time in (1, 3)
    if at_a_time == 3 or fault not in TIMEOUT
]  # fmt: skip


def judged(rows):
    """Say yes to one group, and to the old of the other."""
    return [int(row["race"] == "a" or row["age"] > 50) for row in rows]


def audited(box, log=None, **options):
    return ft.audit(
        PEOPLE, "good", model=box, features=FEATURES, sensitive_features=["race"], rng=0,
        delta=0.1, queries=ft.Queries(log=log, repeats=0), **options,
    )  # fmt: skip


@pytest.fixture(scope="module")
def expected():
    return audited(lambda frame: judged(frame.to_dict("records"))).document()


def is_the_same(result, expected):
    """Say whether an audit found what another one did, but for the model's name."""
    found, known = result.document(), expected
    return all(
        getattr(found, name) == getattr(known, name)
        for name in ("statistic", "interval", "lower_bound", "upper_bound", "pvalue", "verdict",
                     "moves", "queried", "questions")
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "at_a_time"), FAILING)
def test_after_any_fault_a_rerun_asks_for_the_rest_alone(fault, at_a_time, expected, tmp_path):
    log, options = tmp_path / "a.sqlite", dict(batch_size=BATCH, at_a_time=at_a_time)
    with Faulty(judged) as server, Faulty(server.url, [None, None, None, fault]) as proxy:
        wait = TIMEOUT.get(fault, 60)
        box = connect(f"{proxy.url}/invocations", retries=0, timeout=wait, **options)
        with pytest.raises(ft.ModelError, match=r"answers are in the query log 'a.sqlite'"):
            audited(box, log=log)
        failed = proxy.posts[3]
        # the rest of what was under way came, and was kept
        assert sum(proxy.answered.values()) == BATCH * (len(proxy.posts) - 1)

        result = audited(box, log=log)

    assert is_the_same(result, expected)
    assert set(proxy.answered.values()) == {1}
    assert {question for question, times in proxy.asked.items() if times > 1} == set(failed)


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["500", "503", "429", "hang-up", "cut", "slow"])
def test_what_can_be_tried_again_needs_no_rerun(fault, expected, tmp_path):
    options = dict(batch_size=BATCH, timeout=TIMEOUT.get(fault, 60))
    started = time.monotonic()
    with Faulty(judged) as server, Faulty(server.url, [None, fault]) as proxy:
        box = connect(f"{proxy.url}/invocations", retries=2, at_a_time=2, **options)
        result = audited(box, log=tmp_path / "a.sqlite")

    assert is_the_same(result, expected)
    assert not proxy.faults
    assert set(proxy.answered.values()) == {1}
    if fault == "429":
        # as its Retry-After says
        assert time.monotonic() - started >= 1


class OneBad(Faulty):
    """A server that fails where somebody is in a request, while the others wait for that."""

    def __init__(self, behind, reply):
        super().__init__(behind)
        self.reply, self.bad, self.failed = reply, None, None
        self.has_failed = threading.Event()

    def _handed_on(self, handler, body):
        if self.bad is not None and self.bad not in body:
            self.has_failed.wait(30)
        elif self.bad is not None:
            self.failed = self.posts.index(questions_in(body))
            threading.Timer(0.2, self.has_failed.set).start()
            return self.reply
        return super()._handed_on(handler, body)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ((400, b"no"), "answered with status 400: no; "),
        ((200, json.dumps({"predictions": [7] * BATCH}).encode()), "unknown label 7.*; "),
    ],
)
def test_a_request_that_fails_for_good_loses_none_of_its_neighbours(
    reply, message, expected, tmp_path
):
    log = tmp_path / "a.sqlite"
    with OneBad(judged, reply) as server:
        box = connect(f"{server.url}/invocations", batch_size=BATCH, at_a_time=4, retries=0)
        server.bad = json.dumps(min(PEOPLE.query("race == 'a'")[FEATURES].values.tolist())).encode()
        with pytest.raises(ft.ModelError, match=message) as caught:
            audited(box, log=log)
        # its neighbours were answered after it, and all that was answered was kept
        failed = server.posts.pop(server.failed)
        assert len(server.posts) >= 3
        assert f"; {BATCH * len(server.posts)} of " in str(caught.value)

        server.bad = None
        result = audited(box, log=log)

    assert is_the_same(result, expected)
    assert {question for question, times in server.asked.items() if times > 1} == set(failed)


def test_families_lose_nothing_either(tmp_path):
    log, audits = tmp_path / "a.sqlite", {"all": {"delta": 0.1}, "strict": {"delta": 0.01}}

    def family(box):
        return ft.audit_many(
            PEOPLE, "good", audits=audits, model=box, features=FEATURES, rng=0,
            sensitive_features=["race"], queries=ft.Queries(log=log, repeats=0),
        )  # fmt: skip

    with Faulty(judged, [None, None, None, "500"]) as server:
        box = connect(f"{server.url}/invocations", batch_size=BATCH, at_a_time=3, retries=0)
        with pytest.raises(ft.ModelError, match="answers are in the query log"):
            family(box)
        failed = server.posts[3]
        assert len(family(box)) == len(audits)

    assert set(server.answered.values()) == {1}
    assert {question for question, times in server.asked.items() if times > 1} == set(failed)
