"""Language models behind prompts: wording, stand-ins, answers, scores and refusals."""

import json
import math
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from tests.access.faulty import Faulty

import fairtransport as ft
from fairtransport.access import prompt
from fairtransport.access.prompt_replies import as_answers
from fairtransport.access.prompt_templates import as_template
from fairtransport.access.prompts import read_prompt
from fairtransport.report.terminal import print_result

NAMES = pd.DataFrame({"group": ["a", "a", "b", "b"], "name": ["Emily", "Anne", "Lakisha", "Aisha"]})
TEMPLATE = "{name}, {age}: {sex} sends {sex:possessive} papers. Invite? yes or no"
WORDING = {"sex": {"f": "she", "m": "he"}, "sex:possessive": {"f": "her", "m": "his"}}
PEOPLE = pd.DataFrame(
    {"group": list("abab") * 6, "sex": list("ffmm") * 6, "age": [20, 30, 40] * 8}
).assign(good=["yes", "yes", "no", "no"] * 6)


class Chat(Faulty):
    """A language model: a function of the prompt that returns its reply, or the whole choice."""

    def __init__(self, reply, models=("toy",), **options):
        super().__init__(lambda rows: [], **options)
        self.reply, self.models, self.bodies = reply, models, []

    def _handed_on(self, handler, body):
        if handler.command == "GET":
            told = {"data": [{"id": name} for name in self.models]}
            return (200, json.dumps(told).encode()) if "models" in handler.path else (404, b"{}")
        document = json.loads(body)
        self.bodies.append(document)
        said = self.reply(document["messages"][-1]["content"])
        if isinstance(said, tuple):
            return said
        if isinstance(said, str):
            said = {"message": {"content": said}, "finish_reason": "stop"}
        return 200, json.dumps({"model": "toy", "choices": [said]}).encode()


def asked(server, **options):
    given = dict(answers=["yes", "no"], wording=WORDING, stand_ins=NAMES, retries=1) | options
    return prompt(given.pop("template", TEMPLATE), server.url, **given)


def audited(box, **options):
    return ft.audit(PEOPLE, "good", model=box, sensitive_features=["group"], rng=0, **options)


def test_a_biased_prompt_is_found_and_recorded():
    with Chat(lambda text: "Yes." if text.startswith(("Emily", "Anne")) else "no") as server:
        box = asked(server)
        result = audited(box, delta=0.1, queries=ft.Queries(repeats=0))

    # half are right about themselves, and wrong about their twins
    assert result.statistic == pytest.approx(0.5, abs=1e-12)
    assert result.verdict == "rejected"
    assert box.features == ("group", "age", "sex")
    assert box.classes == ["yes", "no", "refusal"]
    for part in ("language model toy", "temperature 0", "seed 0", box.digest, server.url):
        assert part in result.summary.provenance.model
    assert set(server.answered.values()) == {1}
    assert server.bodies[0]["temperature"] == 0
    assert server.bodies[0]["seed"] == 0
    assert server.bodies[0]["model"] == "toy"


def test_the_prompt_is_worded_and_twins_get_names_of_the_same_place():
    template = as_template(TEMPLATE, WORDING, NAMES)
    first, second = template.prompts(pd.DataFrame({"group": ["a", "b"], "sex": "f", "age": 33.0}))

    assert first.endswith(", 33: she sends her papers. Invite? yes or no")
    place = ["Emily", "Anne"].index(first.split(",")[0])
    assert second == first.replace(["Emily", "Anne"][place], ["Lakisha", "Aisha"][place])
    ages = pd.DataFrame({"group": "a", "sex": "f", "age": range(40)})
    assert {text.split(",")[0] for text in template.prompts(ages)} == {"Emily", "Anne"}


def test_refusals_are_a_level_of_their_own_and_counted():
    replies = {
        "Emily": "I cannot say yes or no.", "Anne": "yes",
        "Lakisha": {"message": {"content": None, "refusal": "No."}, "finish_reason": "stop"},
        "Aisha": {"message": {"content": "yes"}, "finish_reason": "length"},
    }  # fmt: skip
    with Chat(lambda text: replies[text.split(",")[0]]) as server:
        result = audited(asked(server))
        labels = result.answers.predictions

    refused = int(np.sum(labels == "refusal"))
    assert set(labels) == {"yes", "refusal"}
    assert result.warnings[0] == (
        f"For {refused} of {len(labels)} different rows, the language model gave none of the "
        "answers ['yes', 'no']. This counts as the answer 'refusal'."
    )


def test_a_monitor_counts_refusals_over_all_records():
    with Chat(lambda text: "maybe" if text.startswith("Emily") else "yes") as server:
        monitor = ft.Monitor(
            y="good", model=asked(server), sensitive_features=["group"], delta=0.5,
            levels={"group": ["a", "b"]}, features=["group", "sex", "age"],
        )  # fmt: skip
        for record in PEOPLE.to_dict("records"):
            state = monitor.update(record)

    said = list(monitor._points.oracle.answers.values())
    assert 0 < (refused := said.count("refusal")) < len(said) == monitor.queried
    assert state.warnings[0].startswith(
        f"For {refused} of {len(said)} different rows, the language"
    )


@pytest.mark.slow
def test_a_prompt_says_whether_it_answers_at_random():
    with Chat(lambda _: "yes") as server:
        says = [
            asked(server, temperature=temperature, seed=seed).answers_at_random
            for temperature, seed in ((0, 0), (1, 0), (0, None), (1, None))
        ]
        with pytest.raises(ft.InputError, match=r"`queries\.draws` needs a model that answers"):
            audited(asked(server, temperature=1), queries=ft.Queries(draws=3))
        result = audited(asked(server, temperature=1, seed=None), queries=ft.Queries(draws=3))
    assert says == [False, False, None, True]
    assert result.query_record.draws == 3


def test_a_filter_on_the_question_is_a_refusal_and_other_errors_are_not():
    told = json.dumps({"error": {"code": "content_filter"}}).encode()
    with Chat(lambda _: (400, told)) as server:
        box = asked(server)
        assert box.answer(PEOPLE.head(2), "label") == ["refusal"] * 2
        assert box.answer(PEOPLE.head(1), "score") == [[0, 0, 1]]
    message = r"answered with status 401: who are you\?"
    with Chat(lambda _: (401, b"who are you?")) as server:
        box = asked(server)
        with pytest.raises(ft.ModelError, match=message):
            box.answer(PEOPLE.head(2), "label")


@pytest.mark.parametrize(
    ("text", "label"),
    [("yes", "yes"), (" YES!\n", "yes"), ('"no".', "no"), ("**No**", "no"), ("", "refusal"),
     ("yes, she should", "refusal"), ("no comment", "refusal"), ("ja", "refusal")],
)  # fmt: skip
def test_an_answer_counts_word_for_word(text, label):
    document = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    assert as_answers(["yes", "no"], None, None).label(document, "it") == label


def test_words_can_stand_for_labels():
    offered = as_answers({"invite": 1, "yes": 1, "reject": 0}, None, None)
    document = {"choices": [{"message": {"content": "Invite"}}]}

    assert offered.classes == [1, 0, -1]
    assert offered.label(document, "it") == 1


def tokens(**chances):
    top = [{"token": token, "logprob": math.log(chance)} for token, chance in chances.items()]
    return {"message": {"content": "x"}, "logprobs": {"content": [{"top_logprobs": top}]}}


def test_scores_are_the_chances_of_first_tokens():
    with Chat(lambda _: tokens(yes=0.5, Ye=0.125, n=0.25, Sorry=0.0625)) as server:
        box = asked(server)
        assert np.allclose(box.answer(PEOPLE.head(1), "score"), [[0.625, 0.25, 0.125]])
        assert (server.bodies[0]["logprobs"], server.bodies[0]["max_tokens"]) == (True, 1)
        result = audited(box, loss="brier")
    assert result.warnings[0].startswith("The language model gives none of the answers")
    assert "a probability of 0.125 on average" in result.warnings[0]


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ("yes", "must return the log-probabilities of first tokens, got None"),
        (tokens(ye=2.0), "must return the log-probabilities of first tokens"),
        ((200, b"{}"), "must answer with a choice, got"),
        ((200, b'{"choices": [3]}'), "must answer with a choice, got"),
        ((200, b'{"choices": []}'), "must answer with a choice, got"),
    ],
)
def test_replies_without_what_was_asked_for(reply, message):
    with Chat(lambda _: reply) as server, pytest.raises(ft.ModelError, match=message):
        asked(server).answer(PEOPLE.head(1), "score")


def test_answers_that_begin_alike_have_no_scores():
    with Chat(lambda _: tokens(n=0.5)) as server:
        box = asked(server, answers=["no", "never"])
        with pytest.raises(ft.ModelError, match="with which several answers begin: choose"):
            box.answer(PEOPLE.head(1), "score")


def test_a_server_is_told_to_give_no_other_answers():
    with Chat(lambda _: '{"answer": "yes"}') as server:
        assert asked(server, constrain="json-schema").answer(PEOPLE.head(1), "label") == ["yes"]
        asked(server, constrain="grammar").answer(PEOPLE.head(1), "label")

    schema = server.bodies[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["answer"]["enum"] == ["yes", "no"]
    assert server.bodies[1]["grammar"] == 'root ::= "yes" | "no"'


def test_numbers_have_no_place_for_refusals():
    with Chat(lambda text: "7" if "she" in text else "who knows") as server:
        box = asked(server, answers=[1, 7])
        assert box.answer(PEOPLE.head(1), "value") == [7]
        with pytest.raises(ft.ModelError, match="which has no place among numbers: choose a loss"):
            box.answer(PEOPLE.iloc[2:3], "value")


def test_whatever_is_said_to_the_model_tells_prompts_apart():
    with Chat(lambda _: "yes") as server:
        same = [asked(server).identity for _ in range(2)]
        others = [
            asked(server, **options).identity
            for options in (
                {"template": TEMPLATE + "."}, {"system": "Be kind."}, {"answers": ["no", "yes"]},
                {"wording": WORDING | {"sex": {"f": "She", "m": "he"}}}, {"temperature": 0.5},
                {"seed": 1}, {"seed": None}, {"model": "other"}, {"constrain": "grammar"},
                {"max_tokens": 7}, {"options": {"top_p": 0.5}}, {"refusal": "none"},
                {"stand_ins": NAMES.assign(name=["Emily", "Anne", "Lakisha", "Aysha"])},
            )
        ]  # fmt: skip
    assert same[0] == same[1]
    assert len({*same, *others}) == 1 + len(others)


@pytest.mark.parametrize("path", ["", "/v1", "/v1/chat/completions", "/v1/"])
def test_the_address_may_be_that_of_the_server(path):
    with Chat(lambda _: "yes") as server:
        box = prompt("{age}?", server.url + path, answers=["yes", "no"])
        assert box.client.address.path == "/v1/chat/completions"
        assert box.answer(PEOPLE.head(1), "label") == ["yes"]


@pytest.mark.parametrize("models", [(), ("a", "b")])
def test_one_model_of_several_is_named(models):
    message = "`model` must name one of the models of http"
    with Chat(lambda _: "yes", models) as server, pytest.raises(ft.InputError, match=message):
        asked(server)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"template": 7}, "`template` must be a text with columns in braces, as in '{age}', got 7"),
        ({"template": "no column"}, "`template` must be a text with columns in braces"),
        ({"template": "{age"}, "`template` must have columns in braces"),
        ({"template": "{} {age}"}, "`template` must name a column in each pair of braces"),
        ({"template": "{age!r}"}, "`template` must be a text with columns in braces"),
        ({"answers": ["yes"]}, "`answers` must be two or more different words"),
        ({"answers": "yes"}, "`answers` must be two or more different words"),
        ({"answers": ["yes", "Yes"]}, "`answers` must be two or more different words"),
        ({"answers": None}, "`answers` must be two or more different words"),
        ({"refusal": "yes"}, "`refusal` must be none of the answers' labels, got 'yes'"),
        ({"constrain": "force"}, "`constrain` must be one of 'grammar', 'json-schema', got"),
        ({"temperature": -1}, "`temperature` must be a number of at least 0, got -1"),
        ({"seed": "x"}, "`seed` must be a whole number of at least 0, got 'x'"),
        ({"max_tokens": 0}, "`max_tokens` must be a whole number of at least 1, got 0"),
        ({"system": 3}, "`system` must be a text, got 3"),
        ({"wording": {"colour": {}}}, "`wording` must be about .*, got 'colour'"),
        ({"wording": {"sex": "she"}}, "`wording` must map columns to words for their values"),
        ({"wording": 3}, "`wording` must map columns to words for their values, got 3"),
        ({"stand_ins": 3}, "`stand_ins` must be a table of groups and, last, names, got 3"),
        ({"stand_ins": NAMES[["name"]]}, "`stand_ins` must be a table of groups and, last, names"),
        ({"stand_ins": NAMES.head(3)}, "`stand_ins` must have as many names for each group"),
        ({"stand_ins": NAMES.rename(columns={"name": "nom"})}, "`stand_ins` must end in a column"),
    ],
)  # fmt: skip
def test_prompts_that_are_refused(options, message):
    given = dict(answers=["yes", "no"], wording=WORDING, stand_ins=NAMES, model="toy") | options
    with pytest.raises(ft.InputError, match=message):
        prompt(given.pop("template", TEMPLATE), "http://127.0.0.1:1", **given)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"sex": "x"}, "`wording` must have words for the value 'x' of 'sex'"),
        ({"age": None}, "`wording` must have words for the value None of 'age'"),
        ({"age": True}, "`wording` must have words for the value True of 'age'"),
        ({"group": "c"}, "`stand_ins` must have a name for ..c.,., got none"),
    ],
)
def test_levels_without_words(row, message):
    person = {"group": "a", "sex": "f", "age": 30} | row
    with pytest.raises(ft.ModelError, match=message):
        as_template(TEMPLATE, WORDING, NAMES).prompts(pd.DataFrame([person], dtype=object))


def test_levels_that_are_no_text_are_found_by_their_text():
    template = as_template(
        "{old} {n}", {"old": {"true": "old", "false": "young"}, "n": {"1": "one"}}, None
    )
    assert template.prompts(pd.DataFrame({"old": [True], "n": [1]})) == ["old one"]


# -- prompts in files

FILE = """
template = "{name} is {age}. Invite?"
answers = ["yes", "no"]
stand_ins = "names.csv"
temperature = 0.5
"""


def test_a_prompt_can_stand_in_a_file(tmp_path):
    NAMES.to_csv(tmp_path / "names.csv", index=False)
    (tmp_path / "hiring.toml").write_text(FILE)
    with Chat(lambda _: "yes") as server:
        box = read_prompt(tmp_path / "hiring.toml", server.url, retries=1)
        assert box.features == ("group", "age")
        assert box.answer(PEOPLE.head(2), "label") == ["yes", "yes"]
    assert server.bodies[0]["temperature"] == 0.5


@pytest.mark.parametrize(
    ("text", "message", "error"),
    [
        ("url = 'x'", "must have the keys template, answers, .* alone, got 'url'", ft.InputError),
        ("answers = ['a', 'b']", "'hiring.toml' must have the key 'template'", ft.InputError),
        ("template = '{a}'", "'hiring.toml' must have the key 'answers'", ft.InputError),
        ("template = ", "could not be read as a model .TOMLDecodeError", ft.ModelError),
        (FILE, "there is no file '.*names.csv' for `stand_ins`", ft.InputError),
    ],
)
def test_files_that_are_no_prompt(text, message, error, tmp_path):
    (tmp_path / "hiring.toml").write_text(text)
    with pytest.raises(error, match=message):
        read_prompt(tmp_path / "hiring.toml", "http://127.0.0.1:1")


EDITED = "{name}, {age}. {sex} sends {sex:possessive} papers. Invite? yes or no"


def any_edit_counts(text):
    """Answer by a hash of the whole prompt."""
    return "yes" if sha256(text.encode()).digest()[0] % 2 else "no"


def audited_many(box, **options):
    people = pd.DataFrame({"group": list("ab") * 24, "sex": list("ffmm") * 12, "age": range(48)})
    return ft.audit(
        people.assign(good="yes"), "good", model=box, sensitive_features=["group"], rng=0,
        delta=0.05, **options,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "blank", "reordered"),
    [
        ("A {a}. B {b}! C?", "A {a}. B {b}!\n\nC?", "B {b}! A {a}. C?"),
        ("Judge. A {a}: yes or no?", "Judge.\n\nA {a}: yes or no?", "A {a}: yes or no? Judge."),
        ("A {a}.\nB. {b}\nC", "A {a}.\nB. {b}\n\nC", "B. {b}\nA {a}.\nC"),
        ("{a. b} {{x. y}}. C {c}", "{a. b} {{x. y}}.\n\nC {c}", "C {c} {a. b} {{x. y}}."),
    ],
)
def test_ready_made_edits_keep_the_words(text, blank, reordered):
    template = as_template(text, None, None)
    assert template.edit(["blank line"]).text == blank
    assert template.edit(["reordered"]).text == reordered
    assert set(template.edit(["reordered"]).places) == set(template.places)


def test_edits_of_the_prompt_are_controls_in_the_same_run():
    edits = ["blank line", "reordered"]
    with Chat(any_edit_counts) as server:
        box = asked(server, template=EDITED, controls=edits)
        result = audited_many(box, queries=ft.Queries(repeats=4))
        without = audited_many(asked(server, template=EDITED))
        with pytest.raises(ft.InputError, match="`models` must have no controls of its own, got"):
            ft.compare(PEOPLE, "good", models={"one": box, "two": box}, sensitive_features="group")
    assert (without.verdict, result.verdict) == ("rejected", "inconclusive")
    assert without.statistic == result.statistic
    # the person, one twin and two edits of the prompt
    assert result.queried == 48 * 4
    assert result.controls.columns == (*edits,)
    assert result.space.features == box.features == ("group", "age", "sex")
    own, *edited = (_is_wrong(result, box, names) for names in ([], *([edit] for edit in edits)))
    shift = np.mean([one & ~own for one in edited])
    assert result.controls.control_shift == pytest.approx(shift)


def _is_wrong(result, box, edits):
    """Return whether each audited person is answered wrongly."""
    rows = np.flatnonzero(result.space.observed)
    texts = box.template.edit(edits).prompts(result.space.frame(box.features, rows))
    return np.array([any_edit_counts(text) == "no" for text in texts])


def test_an_effect_of_the_group_is_found_beside_edits_of_the_prompt():
    with Chat(lambda text: "yes" if "Emily" in text or "Anne" in text else "no") as server:
        box = asked(server, template=EDITED, controls="reordered")
        result = audited_many(box)
        both = audited_many(box, controls=ft.Controls(["age", "reordered"], margin=0.9),
                            bins={"age": [24]})  # fmt: skip
    assert (result.verdict, result.controls.control_shift) == ("rejected", 0)
    assert both.controls.columns == ("age", "reordered")
    assert (both.verdict, both.controls.margin) == ("inconclusive", 0.9)
    assert both.controls_advice is result.controls_advice is None


def test_a_prompt_without_controls_says_so_on_every_first_screen(capsys, tmp_path):
    with Chat(any_edit_counts) as server:
        result = audited_many(asked(server))
        random = audited(asked(server, temperature=1, seed=None), queries=ft.Queries(draws=2))
    advice = "Any change of the prompt can change the answers of a language model"
    print_result(result.summary, "audit")
    screen = " ".join(capsys.readouterr().out.split())
    page = result.to_html(tmp_path / "page.html").read_text("utf-8")
    first = page.split("<body")[1].split('class="facts printed"')[0]
    for text in (
        screen,
        first,
        " ".join(str(result).split()),
        result._repr_html_(),
        result.to_markdown(),
    ):
        assert advice in text
        assert "blank line" in text
    assert "need one answer per query, and queries about everybody" in random.controls_advice
    assert ft.audit(PEOPLE, "good", model=lambda rows: ["yes"] * len(rows),
                    sensitive_features="group", rng=0).controls_advice is None  # fmt: skip


def test_a_query_log_repeats_an_audit_with_edits_of_the_prompt(tmp_path):
    log = tmp_path / "answers.sqlite"
    with Chat(any_edit_counts) as server:
        box = asked(server, template=EDITED, controls=["blank line"])
        result = audited_many(box, queries=ft.Queries(log=log))
        without = asked(server, template=EDITED)
    again = audited_many(ft.access.recorded(log))
    assert again.controls == result.controls
    assert again.controls.columns == ("blank line",)
    assert without.identity != box.identity


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"controls": ["capitals"]}, r"edits \(blank line, reordered\), each once, got 'capitals'"),
        ({"controls": ["reordered"] * 2}, r"each once, got \['reordered', 'reordered'\]"),
        ({"controls": 3}, r"each once, got 3"),
        ({"controls": ["blank line"], "template": "{name} at {age}?"},
         r"`controls` must change the prompt, but 'blank line' leaves '\{name\} at \{age\}\?' as"),
        ({"controls": ["reordered"], "template": "{name} at {age}?\n"}, "must change the prompt"),
        ({"controls": ["reordered"], "template": "{name}. {reordered}?"}, "must not be columns"),
    ],
)  # fmt: skip
def test_edits_that_are_none_are_refused(options, message):
    with pytest.raises(ft.InputError, match=message):
        prompt(options.pop("template", EDITED), "http://127.0.0.1:9/v1", answers=["yes", "no"],
               model="toy", stand_ins=NAMES, **options)  # fmt: skip


def test_edits_need_a_column_of_their_own_and_one_answer_a_question():
    with Chat(lambda _: "yes") as server:
        box = asked(server, template=EDITED, controls=["reordered"])
        taken = PEOPLE.rename(columns={"good": "reordered"})
        with pytest.raises(ft.InputError, match="must not be columns of the data, got 'reordered'"):
            ft.audit(taken, "reordered", model=box, sensitive_features=["group"])
        with pytest.raises(ft.InputError, match="`controls` must not be given with"):
            audited(box, queries=ft.Queries(draws=3))
        with pytest.raises(ft.ModelError, match="must have controls that map new columns"):
            audited(replace(box, edits=("age",)))
