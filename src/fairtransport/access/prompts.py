"""Language models as black boxes: prompt templates, replies as answers, prompts in TOML files."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from inspect import signature
from string import Formatter
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from fairtransport._core.files import is_file
from fairtransport._core.notes import Count, Figure, Note
from fairtransport._core.validation import (
    check_choice,
    check_integer,
    check_number,
    is_among,
    short_repr,
)
from fairtransport.access.black_box import plain_items
from fairtransport.access.endpoints import Endpoint
from fairtransport.access.http_client import Client, Limits, RefusedError, as_address, as_token
from fairtransport.access.model_files import bytes_of, existing_file, plain_column, reading
from fairtransport.errors import InputError, ModelError, param

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

    from fairtransport._core.validation import Values
    from fairtransport.data.columns import Value
    from fairtransport.losses import Answer


Wording: TypeAlias = "Mapping[str, Mapping[Value, str]]"
"""By what stands between braces, the words of each level."""


@dataclass(frozen=True)
class StandIns:
    """Names that stand for groups: names at the same position in every group belong together."""

    name: str
    keys: tuple[str, ...]
    names: Mapping[tuple[Value, ...], Sequence[str]]

    def of(self, row: Mapping[str, Value]) -> str:
        """Return the name for a person.

        Notes
        -----
        The position among a group's names is a hash of the columns that make no groups, so that
        twins share it and it is the same in every run.
        """
        group = tuple(row[key] for key in self.keys)
        names = self.names.get(group)
        if names is None:
            msg = f"{param('stand_ins')} must have a {self.name} for {short_repr(group)}, got none"
            raise ModelError(msg)
        others = [[name, value] for name, value in sorted(row.items()) if name not in self.keys]
        place = int(sha256(json.dumps(others).encode()).hexdigest(), 16) % len(names)
        return names[place]


@dataclass(frozen=True)
class Template:
    """A text with columns in braces, as in "{age} years old; {sex} has {sex:possessive} …"."""

    text: str
    wording: Wording = field(default_factory=dict)
    stand_ins: StandIns | None = None

    @property
    def places(self) -> tuple[str, ...]:
        """What stands between braces, as "sex" or "sex:possessive", each once."""
        parts = Formatter().parse(self.text)
        names = [f"{name}:{form}" if form else name for _, name, form, _ in parts if name]
        return tuple(dict.fromkeys(names))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a prompt uses, in the order of the text."""
        names: list[str] = []
        for place in self.places:
            is_name = self.stand_ins is not None and place == self.stand_ins.name
            names += self.stand_ins.keys if self.stand_ins and is_name else [column_of(place)]
        return tuple(dict.fromkeys(names))

    def prompts(self, points: pd.DataFrame) -> list[str]:
        """Return the prompt for each point."""
        columns = {name: plain_column(points, name) for name in self.columns}
        rows = zip(*columns.values(), strict=True)
        return [self._fill(dict(zip(columns, row, strict=True))) for row in rows]

    def edit(self, names: Sequence[str]) -> Template:
        """Return the template after ready-made edits."""
        text = self.text
        for name in names:
            text = EDITS[name](text)
        return replace(self, text=text)

    def _fill(self, row: Mapping[str, Value]) -> str:
        """Return the text with one person's columns in it."""
        parts = []
        for before, name, form, _ in Formatter().parse(self.text):
            parts.append(before)
            if name:
                parts.append(self._format_value(f"{name}:{form}" if form else name, row))
        return "".join(parts)

    def _format_value(self, place: str, row: Mapping[str, Value]) -> str:
        """Return the words at a place of the template for one person."""
        if self.stand_ins is not None and place == self.stand_ins.name:
            return self.stand_ins.of(row)
        value = row[column_of(place)]
        words = self.wording.get(place)
        if words is None and isinstance(value, str | int | float) and not isinstance(value, bool):
            is_whole = isinstance(value, float) and value.is_integer()
            return str(int(value) if is_whole else value)
        for key in () if words is None else (value, str(value), str(value).lower()):
            if words is not None and key in words:
                return words[key]
        msg = f"{param('wording')} must say how {place!r} is worded where it is {short_repr(value)}"
        raise ModelError(msg)


SENTENCE_END = re.compile(r"(?<=[.!?])[ \t]+(?![^{}]*\})")
"""Blanks between sentences, none of them between braces."""


def _split_parts(text: str) -> tuple[list[str], str]:
    """Return the lines of a text, or the sentences where it is one line, and what joins them."""
    lines = text.strip().splitlines()
    return (lines, "\n") if len(lines) > 1 else (SENTENCE_END.split(text.strip()), " ")


def _add_blank_line(text: str) -> str:
    """Return a text with a blank line before its last sentence or line."""
    parts, joint = _split_parts(text)
    return text if len(parts) == 1 else f"{joint.join(parts[:-1])}\n\n{parts[-1]}"


def _reorder(text: str) -> str:
    """Return a text with the parts that hold columns in reverse; of one such, the first last."""
    parts, joint = _split_parts(text)
    places = [place for place, part in enumerate(parts) if "{" in part.replace("{{", "")]
    if len(parts) == 1:
        return text
    if len(places) == 1:
        return joint.join([*parts[1:], parts[0]])
    reordering = dict(zip(places, reversed(places), strict=True))
    return joint.join(parts[reordering.get(place, place)] for place in range(len(parts)))


EDITS: Mapping[str, Callable[[str], str]] = {
    "blank line": _add_blank_line,
    "reordered": _reorder,
}
"""Ready-made edits of a template that should not matter."""
UNEDITED, EDITED = "no", "yes"
"""Values of the column of an edit."""


def as_edits(controls: object, template: Template) -> tuple[str, ...]:
    """Return the ready-made edits that a user names, each of which changes the template."""
    names = [controls] if isinstance(controls, str) else plain_items(controls)
    is_list = names is not None and len({*map(str, names)}) == len(names)
    unknown = [name for name in names or () if not is_among(name, tuple(EDITS))]
    if not is_list or unknown:
        got = unknown[0] if unknown else controls
        msg = (
            f"{param('controls')} of a prompt must be ready-made edits ({', '.join(EDITS)}), each "
            f"once, got {short_repr(got)}"
        )
        raise InputError(msg)
    for name in names or ():
        if name in template.columns:
            msg = f"{param('controls')} must not be columns of the template, got {name!r}"
            raise InputError(msg)
        if template.edit([name]).text == template.text:
            msg = (
                f"{param('controls')} must change the prompt, but {name!r} leaves "
                f"{short_repr(template.text)} as it is"
            )
            raise InputError(msg)
    return tuple(names or ())


def column_of(place: str) -> str:
    """Return the column of a place in a template: what stands before its form."""
    return place.partition(":")[0]


def as_template(text: object, wording: object, stand_ins: object) -> Template:
    """Return the template that a user describes, checked."""
    try:
        parts = list(Formatter().parse(text)) if isinstance(text, str) else []
    except ValueError as error:
        msg = f"{param('template')} must have columns in braces, as in '{{age}}': {error}"
        raise InputError(msg) from None
    if not any(name for _, name, _, _ in parts) or any(how for _, _, _, how in parts):
        msg = (
            f"{param('template')} must be a text with columns in braces, as in '{{age}}', got "
            f"{short_repr(text)}"
        )
        raise InputError(msg)
    if any(name == "" for _, name, _, _ in parts):
        msg = (
            f"{param('template')} must name a column in each pair of braces; {{{{ and }}}} stand "
            "for braces"
        )
        raise InputError(msg)
    template = Template(str(text), _as_wording(wording), _as_stand_ins(stand_ins))
    for place in template.wording:
        if place not in template.places:
            msg = (
                f"{param('wording')} must be about {short_repr(list(template.places))}, got "
                f"{short_repr(place)}"
            )
            raise InputError(msg)
    if template.stand_ins is not None and template.stand_ins.name not in template.places:
        got = template.stand_ins.name
        msg = (
            f"{param('stand_ins')} must end in a column of the template's, got {got!r}, which is "
            "not there"
        )
        raise InputError(msg)
    return template


def _as_wording(value: object) -> dict[str, dict[Value, str]]:
    """Return the words of levels by place, checked."""
    rule = f"{param('wording')} must map columns to the words of their levels"
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        msg = f"{rule}, got {short_repr(value)}"
        raise InputError(msg)
    wording: dict[str, dict[Value, str]] = {}
    for place, words in value.items():
        if not isinstance(words, Mapping) or not all(isinstance(to, str) for to in words.values()):
            msg = f"{rule}, got {short_repr(words)} for {short_repr(place)}"
            raise InputError(msg)
        wording[str(place)] = dict(words)
    return wording


def _as_stand_ins(value: object) -> StandIns | None:
    """Return the names in a table: its last column holds names, the others form groups."""
    if value is None:
        return None
    import narwhals as nw

    try:
        frame = nw.from_native(value, eager_only=True)  # type: ignore[call-overload]
        *keys, name = frame.columns
        rows = frame.rows()
    except (TypeError, ValueError):
        keys, name, rows = [], "", []
    if not keys or not rows:
        msg = (
            f"{param('stand_ins')} must be a table of groups and, last, names, got "
            f"{short_repr(value)}"
        )
        raise InputError(msg)
    names: dict[tuple[Value, ...], list[str]] = {}
    for row in rows:
        names.setdefault(tuple(row[:-1]), []).append(str(row[-1]))
    sizes = sorted({len(group) for group in names.values()})
    if len(sizes) > 1:
        msg = (
            f"{param('stand_ins')} must have as many names for each group, so that twins get names "
            f"of the same place, got {sizes[0]} to {sizes[-1]}"
        )
        raise InputError(msg)
    return StandIns(str(name), tuple(map(str, keys)), names)


CONSTRAINTS = ("grammar", "json-schema")
REFUSAL = "refusal"
"""What a refusal is called among answers that are text."""
AROUND = " \t\r\n\"'`.!*"
"""Signs around an answer that are no part of it."""
HALF = "\N{REPLACEMENT CHARACTER}"
"""What stands for half a character."""
TOKENS = 20
"""How many of the likeliest first tokens a server is asked for."""


@dataclass(frozen=True)
class Answers:
    """The answers that a language model may give."""

    labels: Mapping[str, Value]
    refusal: Value
    constrain: str | None = None

    @property
    def classes(self) -> list[Value]:
        """The labels, the refusal last."""
        return [*dict.fromkeys(self.labels.values()), self.refusal]

    @property
    def request(self) -> dict[str, object]:
        """The fields of a request that constrain the answers."""
        if self.constrain == "grammar":
            ways = " | ".join(json.dumps(text, ensure_ascii=False) for text in self.labels)
            return {"grammar": f"root ::= {ways}"}
        if self.constrain == "json-schema":
            answer = {"type": "string", "enum": list(self.labels)}
            schema = {"type": "object", "properties": {"answer": answer}, "required": ["answer"],
                      "additionalProperties": False}  # fmt: skip
            description = {"name": "answer", "strict": True, "schema": schema}
            return {"response_format": {"type": "json_schema", "json_schema": description}}
        return {}

    def label(self, document: object, who: str) -> Value:
        """Return the label of a reply; the refusal if it is none of the answers."""
        reply = _choice(document, who)
        content = reply.get("message")
        message = content if isinstance(content, Mapping) else {}
        text = message.get("content")
        is_cut = reply.get("finish_reason") in {"length", "content_filter"}
        if not isinstance(text, str) or is_cut or message.get("refusal"):
            return self.refusal
        if self.constrain == "json-schema":
            text = _from_json(text)
        # what is none of the answers is a refusal, not an error: it happens to some people and not
        # to others
        return self._by_word.get(_bare(text), self.refusal)

    def scores(self, document: object, who: str) -> list[float]:
        """Return the probability that a reply begins as each label's answers do.

        Notes
        -----
        The rest is the refusal's, also where the server lists too few tokens.
        """
        order = self.classes
        if _is_silent(_choice(document, who)):
            # no answer at all is a refusal for sure
            return [float(label == self.refusal) for label in order]
        first = _first_tokens(document, who)
        chances = dict.fromkeys(order, 0.0)
        for token, chance in first:
            labels = {
                label for text, label in self._by_word.items() if text.startswith(_bare(token))
            }
            if _bare(token) and len(labels) > 1:
                msg = (
                    f"{who} gave the first token {short_repr(token)}, with which several answers "
                    "begin: "
                    "choose `answers` that differ in their first letters"
                )
                raise ModelError(msg)
            if _bare(token) and labels:
                chances[labels.pop()] += chance
        # tokens that begin no answer, and those beyond the likeliest, count as not answered
        chances[self.refusal] = max(0.0, 1 - sum(chances.values()))
        total = sum(chances.values())
        return [chances[label] / total for label in order]

    @property
    def _by_word(self) -> dict[str, Value]:
        """Labels by their answers in normal form."""
        return {_bare(text): label for text, label in self.labels.items()}


def as_answers(answers: object, refusal: Value, constrain: str | None) -> Answers:
    """Return the answers that a user describes, checked."""
    table = answers if isinstance(answers, Mapping) else plain_items(answers)
    if isinstance(table, list):
        table = {str(answer): answer for answer in table}
    if not table or len({_bare(str(text)) for text in table} - {""}) < max(2, len(table)):
        msg = (
            f"{param('answers')} must be two or more different words, or a table of words and "
            f"their labels, got {short_repr(answers)}"
        )
        raise InputError(msg)
    labels = {str(text): label for text, label in table.items()}
    if refusal is None:
        is_text = any(isinstance(label, str) for label in labels.values())
        refusal = REFUSAL if is_text else -1
    if refusal in labels.values():
        msg = f"{param('refusal')} must be none of the answers' labels, got {short_repr(refusal)}"
        raise InputError(msg)
    how = None if constrain is None else check_choice("constrain", constrain, CONSTRAINTS)
    return Answers(labels, refusal, how)


def _bare(text: str) -> str:
    """Return an answer without the signs around it, in lower case."""
    return text.strip(AROUND).casefold()


def _choice(document: object, who: str) -> Mapping[str, object]:
    """Return the first choice of a chat completion."""
    choices = document.get("choices") if isinstance(document, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(first, Mapping):
        msg = f"{who} must answer with a choice, got {short_repr(document)}"
        raise ModelError(msg)
    return first


def _is_silent(reply: Mapping[str, object]) -> bool:
    """Return whether a reply is empty and has no log-probabilities."""
    message = reply.get("message")
    text = message.get("content") if isinstance(message, Mapping) else None
    return not str(text or "").strip(HALF) and not reply.get("logprobs")


def _from_json(text: str) -> str:
    """Return the answer in a JSON reply; empty if there is none."""
    try:
        return str(json.loads(text)["answer"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""


def _first_tokens(document: object, who: str) -> Sequence[tuple[str, float]]:
    """Return the likeliest first tokens and their probabilities."""
    logprobs = _choice(document, who).get("logprobs")
    try:
        tokens = logprobs["content"][0]["top_logprobs"]  # type: ignore[index]
        chances = [(str(token["token"]), math.exp(token["logprob"])) for token in tokens]
    except (KeyError, IndexError, TypeError, OverflowError):
        chances = []
    total = math.fsum(chance for _, chance in chances)
    if not chances or not total <= 1 + 1e-3:
        msg = f"{who} must tell the log-probabilities of first tokens, got {short_repr(logprobs)}"
        raise ModelError(msg)
    return chances


PATH = "/chat/completions"


Key = TypeVar("Key")


@dataclass(frozen=True)
class Sampling:
    """The sampling parameters of a language model, which are recorded; see `prompt`."""

    model: str
    temperature: float = 0.0
    seed: int | None = 0
    max_tokens: int | None = 16
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def request(self) -> dict[str, object]:
        """The fields of a request for it."""
        fields = {"model": self.model, "temperature": self.temperature, "seed": self.seed,
                "max_tokens": self.max_tokens, **self.options}  # fmt: skip
        return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True, eq=False)
class Prompt(Endpoint):
    """A language model behind a prompt; each point is a request of its own."""

    template: Template = field(default_factory=lambda: Template(""))
    system: str | None = None
    offered: Answers = field(default_factory=lambda: Answers({}, None))
    sampling: Sampling = field(default_factory=lambda: Sampling(""))
    edits: tuple[str, ...] = ()

    @property
    def controls(self) -> dict[str, tuple[str, str]]:
        """A column for each ready-made edit of the prompt."""
        return dict.fromkeys(self.edits, (UNEDITED, EDITED))

    @property
    def protocol(self) -> str:
        """What the endpoint speaks."""
        return "chat completions"

    @property
    def description(self) -> str:
        """The prompt's hash, the model's name, and how it is asked."""
        seed = "no seed" if self.sampling.seed is None else f"seed {self.sampling.seed}"
        return (
            f"language model {self.sampling.model} at {self.client.address}; prompt with SHA-256 "
            f"{self.digest}, temperature {self.sampling.temperature:g}, {seed}"
        )

    @property
    def answers_at_random(self) -> bool | None:
        """Whether a question gets other answers when it is asked again; None: not known."""
        if self.sampling.seed is not None:
            return False
        return True if self.sampling.temperature > 0 else None

    @property
    def identity(self) -> str:
        """What tells this model and prompt from others."""
        return f"{self.protocol} {self.client.address} {self.sampling.model} {self.digest}"

    @property
    def digest(self) -> str:
        """The hash of everything sent to the model except the people."""
        names = self.template.stand_ins
        content = [
            self.template.text, self.system, _to_list(self.template.wording),
            None if names is None else [names.name, names.keys, _to_list(names.names)],
            list(self.offered.labels.items()), self.offered.refusal, self.offered.constrain,
            _to_list(self.sampling.request),
            *(self.template.edit([name]).text for name in self.edits),
        ]  # fmt: skip
        return sha256(json.dumps(content, default=str).encode()).hexdigest()

    @property
    def batch_size(self) -> int:
        """How many points go into one request."""
        return 1

    def notes_on(self, predictions: Values, classes: Sequence[Value]) -> tuple[str, ...]:
        """Return how often, or with what probability, the model gave none of the answers."""
        offered, refusal = short_repr(list(self.offered.labels)), self.offered.refusal
        if predictions.ndim > 1:
            column = predictions[:, list(classes).index(refusal)].astype(np.float64)
            refusals: float = Figure(column.mean())
            what = (
                "Over all points the probability of none of the answers {offered} is "
                "{refusals:.3g} on average"
            )
        else:
            refusals = Count(np.sum(predictions == refusal))
            what = (
                "At {refusals} of {points} points the language model gave none of the answers "
                "{offered}"
            )
        note = Note(
            what + "; that is counted as the answer {refusal!r}.",
            refusals=refusals, points=Count(len(predictions)), offered=offered, refusal=refusal,
        )  # fmt: skip
        return (note,) if refusals else ()

    def ask(self, points: pd.DataFrame, kind: Answer) -> list[object]:
        """Return the answer to one point: a label, or the scores of all labels."""
        names = [name for name in self.edits if points[name].iloc[0] == EDITED]
        (text,) = self.template.edit(names).prompts(points)
        messages = [{"role": "user", "content": text}]
        if self.system is not None:
            messages.insert(0, {"role": "system", "content": self.system})
        request = {"messages": messages, **self.sampling.request}
        if kind == "score":
            first = {"max_tokens": 1, "logprobs": True, "top_logprobs": TOKENS}
            document = self._post(request | first)
            if document is None:
                return [[float(label == self.offered.refusal) for label in self.offered.classes]]
            return [self.offered.scores(document, str(self.client))]
        document = self._post(request | self.offered.request)
        refusal = self.offered.refusal
        label = refusal if document is None else self.offered.label(document, str(self.client))
        if kind == "value" and label == refusal:
            msg = (
                f"{self.client} gave none of the answers to {short_repr(text)}, which has no place "
                f"among numbers: choose a loss on labels, or {param('pos_label')}"
            )
            raise ModelError(msg)
        return [label]

    def _post(self, request: dict[str, object]) -> object:
        """Return the server's document; None where a content filter rejects the request."""
        try:
            return self.client.post(self.client.address.path, request)
        except RefusedError as error:
            if error.is_by_filter:
                return None
            raise


def prompt(
    template: str, url: str, *, answers: Sequence[Value] | Mapping[str, Value],
    model: str | None = None, system: str | None = None,
    wording: Wording | None = None, stand_ins: object = None,
    constrain: str | None = None, refusal: Value = None, temperature: float = 0.0,
    seed: int | None = 0, max_tokens: int | None = 16,
    options: Mapping[str, object] | None = None, controls: Sequence[str] = (),
    token_variable: str | None = None,
    at_a_time: int = Limits.at_a_time, timeout: float = Limits.timeout,
    retries: int = Limits.retries, max_answer: int = Limits.max_answer,
) -> Prompt:  # fmt: skip
    """Make a black box of a prompt and the language model that answers it.

    Parameters
    ----------
    template
        The prompt, with columns in braces: "{age} years old". ``{sex:possessive}`` is the form
        "possessive" of the column sex, worded on its own.
    url
        The address of a server with OpenAI's chat completions: ``"http://host/v1"``.
    answers
        The answers the model may give: words, or a table of words and the labels they stand
        for. An answer counts word for word, but for capitals and the signs around it.
    model
        What the server calls the model; default: its only one.
    system
        What the model is told before the prompt.
    wording
        How levels are worded, by column: ``{"sex": {"f": "she", "m": "he"}}``. Text and numbers
        that are not worded stand for themselves.
    stand_ins
        A table of names that stand for groups: its last column is one of the template's, the
        others are columns of the audit. Twins get names of the same place in their groups.
    constrain
        "grammar" or "json-schema": the server lets the model give no other answers, so that it
        cannot refuse either.
    refusal
        The label of whatever is none of the answers; default: "refusal", or -1 among numbers.
    temperature, seed, max_tokens
        How the model draws its words; None is not sent. With a seed, a question that is asked
        again gets the same answer.
    options
        More fields of a request, as in ``{"max_completion_tokens": 16}``.
    controls
        Ready-made edits of the prompt that should not matter, with which an audit compares
        sensitive edits: "blank line", one before the last sentence, and "reordered", the sentences
        that hold columns in reverse, or the first one last. Of a prompt of several lines, lines
        count as sentences.
    token_variable, at_a_time, timeout, retries, max_answer
        As for `connect`.

    Returns
    -------
    BlackBox
        What `audit` takes as its ``model``. Labels are read from what the model says; scores, where
        a loss needs them, from the probabilities of the first token.

    Raises
    ------
    InputError
        If a setting breaks its rule, such as a template without columns.

    Examples
    --------
    >>> import fairtransport as ft
    >>> box = ft.access.prompt("{sex} applies, {years} years of experience. Hire? Yes or no.",
    ...                        "http://127.0.0.1:9/v1", model="small", answers={"yes": 1, "no": 0},
    ...                        wording={"sex": {"f": "She", "m": "He"}})
    >>> box.features, box.classes
    (('sex', 'years'), [1, 0, -1])
    """
    limits = Limits(1, at_a_time, timeout, retries, max_answer)
    checked_template = as_template(template, wording, stand_ins)
    offered = as_answers(answers, refusal, constrain)
    check_number("temperature", temperature, at_least=0)
    if seed is not None:
        check_integer("seed", seed, at_least=0)
    if max_tokens is not None:
        check_integer("max_tokens", max_tokens)
    instruction: object = system
    if not isinstance(instruction, str | None):
        msg = f"{param('system')} must be a text, got {short_repr(instruction)}"
        raise InputError(msg)
    address = as_address(url)
    base = address.path.removesuffix(PATH) or "/v1"
    client = Client(address.at(base + PATH), limits, as_token(token_variable, address))
    name = _only_model(client, base) if model is None else str(model)
    sampling = Sampling(name, float(temperature), seed, max_tokens, _check_options(options))
    return Prompt(
        client, features=checked_template.columns, classes=offered.classes,
        template=checked_template, system=system, offered=offered, sampling=sampling,
        edits=as_edits(controls, checked_template),
    )  # fmt: skip


OWN_FIELDS = ("messages", "model", "temperature", "seed", "max_tokens")
"""Fields of a request that have a parameter of their own."""


def _check_options(options: object) -> dict[str, object]:
    """Return more fields of a request, none of which replaces the question or how it is asked."""
    fields = {} if options is None else options
    if not isinstance(fields, Mapping) or not all(isinstance(name, str) for name in fields):
        msg = f"{param('options')} must map fields of a request to values, got {short_repr(fields)}"
        raise InputError(msg)
    for name in OWN_FIELDS:
        if name in fields:
            msg = (
                f"{param('options')} must not hold fields with a parameter of their own, got "
                f"{name!r}"
            )
            raise InputError(msg)
    return dict(fields)


def _only_model(client: Client, base: str) -> str:
    """Return the name of a server's only model."""
    document = client.get(f"{base}/models")
    entries = document.get("data") if isinstance(document, dict) else None
    names = [
        str(entry["id"]) for entry in entries or () if isinstance(entry, dict) and "id" in entry
    ]
    if len(names) != 1:
        got = short_repr(names) if names else "none that it tells of"
        msg = f"{param('model')} must name one of the models of {client.address}, which has {got}"
        raise InputError(msg)
    return names[0]


def _to_list(table: Mapping[Key, object]) -> list[object]:
    """Return a table as a list that is the same for the same table."""
    return [
        [repr(key), _to_list(value) if isinstance(value, Mapping) else value]
        for key, value in sorted(table.items(), key=repr)
    ]


ELSEWHERE = frozenset(
    {"url", "token_variable", "at_a_time", "timeout", "retries", "max_answer"}
)  # fmt: skip
"""What is no part of a prompt but of how a server is asked."""
KEYS = tuple(name for name in signature(prompt).parameters if name not in ELSEWHERE)
REQUIRED_KEYS = ("template", "answers")


def read_prompt(path: str | Path, url: str, **limits: Any) -> Prompt:
    """Return the black box of a prompt in a TOML file."""
    file = existing_file(str(path))
    with reading(file):
        settings = tomllib.loads(bytes_of(file).decode())
    for key in settings:
        if key not in KEYS:
            msg = f"{file.name!r} must have the keys {', '.join(KEYS)} alone, got {short_repr(key)}"
            raise InputError(msg)
    for key in REQUIRED_KEYS:
        if key not in settings:
            msg = f"{file.name!r} must have the key {key!r}, got {short_repr(list(settings))}"
            raise InputError(msg)
    if "stand_ins" in settings:
        settings["stand_ins"] = _table(file, str(settings["stand_ins"]))
    template = settings.pop("template")
    return prompt(template, url, **settings, **limits)


def _table(prompt_file: Path, name: str) -> pd.DataFrame:
    """Return the table of stand-ins, "NA" and the like read as words."""
    import pandas as pd

    file = prompt_file.parent / name
    if not is_file(file):
        msg = (
            f"{param('stand_ins')} of {prompt_file.name!r} must be an existing file, got "
            f"{short_repr(name)}"
        )
        raise InputError(msg)
    with reading(file):
        return pd.read_csv(file, keep_default_na=False)
