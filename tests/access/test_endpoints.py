"""Endpoints: protocols, batches, retries, limits, and whatever a server can do wrong."""

import json
import ssl
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
import trustme
from tests.access.faulty import Faulty
from tests.access.models_of_people import FEATURES, people
from tests.messages import raises

import fairtransport as ft
from fairtransport.access import connect, load
from fairtransport.access.endpoints import ask_in_parallel
from fairtransport.access.http_client import as_address
from fairtransport.access.repeats import DEFAULT_REPEATS, Repeats

PEOPLE = people(120)
QUICK = dict(retries=2, timeout=2.0)


def judged(rows):
    """Say yes to one group, and to the old of the other."""
    return [int(row["race"] == "a" or row["age"] > 50) for row in rows]


def chances(rows):
    return [[0.25, 0.75] if row["race"] == "a" else [0.5, 0.5] for row in rows]


def said_by(frame):
    return judged(frame.to_dict("records"))


def audited(box, **options):
    return ft.audit(
        PEOPLE, "good", model=box, features=FEATURES, sensitive_features=["race"], rng=0, **options
    )


@pytest.mark.slow
@pytest.mark.parametrize("path", ["", "/", "/invocations"])
@pytest.mark.parametrize(("batch", "at_once"), [(7, 3), (1000, 4), (10, 1)])
def test_points_go_in_batches_so_many_at_a_time_and_each_once(path, batch, at_once):
    with Faulty(judged, pause=0.01) as server:
        box = connect(server.url + path, batch_size=batch, at_a_time=at_once)
        frame = PEOPLE[FEATURES].drop_duplicates()
        said = box.answer(frame, "label")

    assert said == said_by(frame)
    assert server.requests == -(-len(frame) // batch)
    assert server.most_at_once <= at_once
    assert set(server.asked.values()) == set(server.answered.values()) == {1}
    assert box.points_per_call == batch * at_once


def test_an_audit_over_the_wire_is_the_audit_in_memory():
    with Faulty(judged) as server:
        box = load(f"{server.url}/invocations")
        result = audited(box, delta=0.1, queries=ft.Queries(repeats=0))
    same = audited(said_by, delta=0.1)

    for name in ("statistic", "interval", "lower_bound", "upper_bound", "pvalue", "verdict"):
        assert getattr(result, name) == getattr(same, name)
    assert result.summary.provenance.model == f"MLflow endpoint at {server.url}/invocations"
    assert box.identity == f"MLflow {server.url}/invocations"
    assert server.most_often == 1


def test_of_all_questions_twenty_are_asked_again_unless_told():
    with Faulty(judged) as server:
        result = audited(connect(server.url), delta=0.1)

    times = list(server.answered.values())
    assert len(times) == result.queried > DEFAULT_REPEATS
    assert (times.count(1), times.count(2)) == (result.queried - DEFAULT_REPEATS, DEFAULT_REPEATS)
    assert result.query_record.repeats == Repeats(DEFAULT_REPEATS, 0)


def test_scores_and_labels_are_not_mistaken_for_each_other():
    with Faulty(chances) as server:
        assert audited(connect(server.url), loss="brier").statistic > 0
        with pytest.raises(ft.ModelError, match=r"must give one (label|number) per row|unknown"):
            audited(connect(server.url))
    message = r"must give scores, got [01], a label; models logged"
    with Faulty(judged) as server, pytest.raises(ft.ModelError, match=message):
        audited(connect(server.url), loss="brier")


def test_missing_values_and_all_types_arrive_as_they_are():
    seen = []
    frame = pd.DataFrame({"a": [1.5, np.nan], "b": ["x", None], "c": [True, False], "d": [1, 2]})
    with Faulty(lambda rows: (seen.extend(rows), [0] * len(rows))[1]) as server:
        connect(server.url).answer(frame, "label")

    assert seen == [
        {"a": 1.5, "b": "x", "c": True, "d": 1},
        {"a": None, "b": None, "c": False, "d": 2},
    ]


# -- what a server can do wrong


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["500", "503", "429", "hang-up", "cut"])
def test_what_can_be_tried_again_is(fault):
    with Faulty(judged, [fault, None, fault]) as server:
        box = connect(server.url, batch_size=40, at_a_time=1, **QUICK)
        started = time.monotonic()
        assert audited(box, queries=ft.Queries(repeats=0)).statistic == audited(said_by).statistic
        took = time.monotonic() - started

    assert server.most_often == 1
    assert not server.faults
    if fault == "429":
        # twice a second, as its Retry-After says
        assert took >= 2


def test_nothing_is_asked_of_a_server_for_which_nobody_vouches(tmp_path, monkeypatch):
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with Faulty(judged, context=context) as server:
        with pytest.raises(ft.ModelError, match="certificate verify failed"):
            connect(server.url, retries=0).answer(PEOPLE[FEATURES], "label")
        assert server.requests == 0

        authority.cert_pem.write_to_path(tmp_path / "authority.pem")
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
        assert connect(server.url, retries=0).answer(PEOPLE[FEATURES], "label") == said_by(PEOPLE)


def test_slow_answers_are_given_up_and_asked_for_again():
    with Faulty(judged, ["slow"]) as server:
        box = connect(server.url, batch_size=1000, retries=1, timeout=0.5)
        assert box.answer(PEOPLE[FEATURES], "label") == said_by(PEOPLE)
    assert server.requests == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "message", "tries"),
    [
        ("500", "did not answer in 2 tries: ResponseError: too many 500 error responses", 2),
        ("hang-up", "did not answer in 2 tries: ProtocolError", 2),
        ("cut", "did not answer in 2 tries: ", 2),
        ("slow", "did not answer in 2 tries: ReadTimeoutError", 2),
        ("drip", "did not answer in 2 tries: .*took longer than `timeout`", 2),
        ("shape", "must give one answer per row .10., got 9", 1),
        ("nan", "must give finite numbers, got NaN", 1),
        ("huge", "must answer in at most 16,777,216 bytes .`max_answer`., got more", 1),
        ("redirect", "redirects to http://192.0.2.1, which is not followed; give the URL", 1),
        ("text", "must answer in JSON, got b'<html>hello</html>'", 1),
    ],
)
def test_what_goes_on_being_wrong_is_one_sentence(fault, message, tries):
    with Faulty(judged, always=fault) as server:
        box = connect(server.url, batch_size=10, at_a_time=1, retries=1, timeout=0.7)
        with pytest.raises(ft.ModelError, match=message) as caught:
            audited(box)
    assert server.requests == tries
    assert len(str(caught.value)) < 400
    assert "\n" not in str(caught.value)


def test_a_redirect_goes_nowhere():
    with Faulty(judged) as other:
        where = f"{other.url}/invocations"
        with (
            Faulty(judged, always="redirect", elsewhere=where) as server,
            pytest.raises(ft.ModelError, match=r"redirects to http://127.0.0.1, which is not"),
        ):
            connect(server.url).answer(PEOPLE[FEATURES], "label")
        assert other.requests == 0


def test_nobody_there():
    with Faulty(judged) as server:
        pass
    with pytest.raises(ft.ModelError, match=r"in 1 try \(Connection refused\); check the URL"):
        connect(f"{server.url}/invocations", retries=0).answer(PEOPLE[FEATURES], "label")


def test_answers_that_were_under_way_arrive_when_another_fails():
    asked = threading.Event()

    def ask(part):
        if part == 0:
            asked.wait(5)
            msg = "no"
            raise ValueError(msg)
        if part == 1:
            asked.set()
            time.sleep(0.2)
        return part * 10

    arriving = ask_in_parallel(ask, range(50), 2)
    assert next(arriving) == (1, 10)
    with pytest.raises(ValueError, match="no"):
        next(arriving)


def test_all_parts_arrive_once():
    for at_a_time in (1, 2, 9):
        assert sorted(ask_in_parallel(lambda part: -part, range(30), at_a_time)) == [
            (part, -part) for part in range(30)
        ]


# -- the Open Inference Protocol


class OpenInference(Faulty):
    """A server of one model, which says of its tensors what it is told to."""

    def __init__(self, inputs=(), outputs=(), reply=None, **options):
        super().__init__(judged, **options)
        self.inputs, self.outputs, self.reply, self.bodies = inputs, outputs, reply, []

    def _handed_on(self, handler, body):
        if handler.command == "GET":
            told = {"/v2": {"name": "toy", "version": "1"},
                    "/v2/models/toy": {"name": "toy", "versions": ["3"], "inputs": self.inputs,
                                       "outputs": self.outputs}}.get(handler.path)  # fmt: skip
            return (404, b"{}") if told is None else (200, json.dumps(told).encode())
        document = json.loads(body)
        self.bodies.append(document)
        size = document["inputs"][0]["shape"][0]
        return 200, json.dumps({"outputs": self.reply(size)}).encode()


def labels(size):
    return [{"name": "predict", "datatype": "INT64", "shape": [size, 1], "data": [1] * size}]


def test_columns_of_which_the_server_says_nothing_go_in_their_own_types():
    with OpenInference(reply=labels) as server:
        box = connect(server.url, model="toy")
        assert box.answer(PEOPLE[FEATURES].head(3), "label") == [1, 1, 1]

    (body,) = server.bodies
    assert {one["name"]: one["datatype"] for one in body["inputs"]} == {
        "race": "BYTES", "age": "INT64", "income": "FP64", "member": "BOOL"
    }  # fmt: skip
    assert body["parameters"] == {"content_type": "pd"}
    assert "outputs" not in body
    assert box.features is None
    assert "toy ['3']" in box.identity


def test_columns_go_in_the_types_that_the_server_declares():
    inputs = [{"name": "age", "datatype": "FP32", "shape": [-1, 1]},
              {"name": "race", "datatype": "BYTES", "shape": [-1]}]  # fmt: skip
    with OpenInference(inputs, labels(1), labels) as server:
        box = connect(f"{server.url}/v2/models/toy")
        assert box.features == ("age", "race")
        box.answer(PEOPLE[["age", "race"]].head(2), "label")

    age, race = server.bodies[0]["inputs"]
    assert (age["datatype"], age["shape"]) == ("FP32", [2, 1])
    assert all(isinstance(one, float) for one in age["data"])
    assert race["shape"] == [2]
    assert server.bodies[0]["outputs"] == [{"name": "predict"}]


def test_a_table_goes_row_by_row_and_scores_come_from_the_output_of_fractions():
    def both(size):
        scores = {"name": "probabilities", "datatype": "FP32", "shape": [size, 2]}
        return [*labels(size), {**scores, "data": [0.25, 0.75] * size}]

    table = [{"name": "x", "datatype": "FP64", "shape": [-1, 2]}]
    with OpenInference(table, both(1), both) as server:
        box = connect(server.url, model="toy", features=["income", "age"])
        frame = pd.DataFrame({"income": [1.5, 2.5], "age": [3, 4]})
        assert box.answer(frame, "score") == [[0.25, 0.75]] * 2
        assert box.answer(frame, "label") == [1, 1]

    (sent,) = server.bodies[0]["inputs"]
    assert (sent["data"], sent["shape"]) == ([1.5, 3.0, 2.5, 4.0], [2, 2])


@pytest.mark.parametrize(
    ("reply", "kind", "message"),
    [
        (lambda n: labels(n - 1), "label", "must give one answer per row .3., got shape"),
        (lambda n: [], "label", "must give one output for labels .*, got 'none'"),
        (lambda n: labels(n) * 2, "label", "must give one output for labels .*, got 'predict, pr"),
        (lambda n: [3], "label", "must give labels, got"),
        (lambda n: None, "label", "must give labels, got"),
        (labels, "score", "must give one output for scores .*, got 'predict'"),
        (lambda n: [{**labels(n)[0], "name": "predict_proba"}], "score", "must give scores, got"),
        (lambda n: [{**labels(n)[0], "shape": [n, 7]}], "label", "must give labels, got"),
        (lambda n: [{**labels(n)[0], "data": None}], "label", "must give labels, got"),
    ],
)
def test_replies_of_another_shape(reply, kind, message):
    with OpenInference(reply=reply) as server, pytest.raises(ft.ModelError, match=message):
        connect(server.url, model="toy").answer(PEOPLE[FEATURES].head(3), kind)


def test_a_protocol_is_recognised_or_named():
    with OpenInference(reply=labels) as server:
        with pytest.raises(ft.InputError, match="`model` must be given: what does the endpoint"):
            connect(server.url)
        with pytest.raises(ft.ModelError, match="must describe its model at '/v2/models/no'"):
            connect(server.url, model="no")
        assert connect(server.url, protocol="mlflow").protocol == "MLflow"
    with Faulty(judged) as server:
        with pytest.raises(ft.ModelError, match="must speak one of mlflow, open-inference"):
            connect(f"{server.url}/nowhere")
        with pytest.raises(ft.InputError, match="`protocol` must be one of"):
            connect(server.url, protocol="soap")
        with pytest.raises(ft.InputError, match="for a language model use `prompt`"):
            connect(f"{server.url}/v1/chat/completions")


# -- addresses and settings


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (7, "`url` must be a URL like 'https://host/path', got 7"),
        ("ftp://host/x", "`url` must be a URL like"),
        ("http://", "`url` must be a URL like"),
        ("http://host:99999/x", "`url` must be a URL like"),
        ("http://host/a b", "`url` must be a URL like"),
        ("http://host/a\r\nHost: other", "`url` must be a URL like"),
        ("http://me:hush@host/x", "`url` must not hold a user name or a password; put the token"),
        ("http://hush@host/x", "`url` must not hold a user name or a password"),
        ("http://host/x?key=hush", "`url` must have no parameters but api-version, as they could"),
        ("http://host/x?hush", "`url` must have no parameters but api-version"),
        ("http://host/x#hush", "`url` must have no parameters but api-version"),
    ],
)
def test_addresses_that_are_refused_without_showing_secrets(url, message):
    with pytest.raises(ft.InputError, match=message) as caught:
        connect(url)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://host:443/x/", "https://host/x"),
        ("http://HOST:8080", "http://host:8080"),
        ("http://[::1]:5000/invocations", "http://[::1]:5000/invocations"),
        ("https://host/x?api-version=3", "https://host/x?api-version=3"),
    ],
)
def test_addresses_as_they_are_shown(url, shown):
    assert str(as_address(url)) == shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 0}, "`batch_size` must be a whole number of at least 1, got 0"),
        ({"at_a_time": 1.5}, "`at_a_time` must be a whole number of at least 1, got 1.5"),
        ({"timeout": 0}, "`timeout` must be a number above 0, got 0"),
        ({"retries": -1}, "`retries` must be a whole number of at least 0, got -1"),
        ({"max_answer": "1"}, "`max_answer` must be a whole number of at least 1, got '1'"),
        ({"features": "race"}, "`features` must be a list of column names, got 'race'"),
        ({"token_variable": "sk-hush"}, "`token_variable` must be the name of an environment var"),
    ],
)
def test_settings_that_are_refused(options, message):
    with pytest.raises(ft.InputError, match=message) as caught:
        connect("http://127.0.0.1:1/invocations", **options)
    assert "hush" not in str(caught.value)


def test_the_extra_is_named_when_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "urllib3", None)
    with raises(ft.ModelError, "pip install 'fairtransport[http]'"):
        connect("http://127.0.0.1:1")
