"""Language models as black boxes, and prompts in TOML files."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from fairtransport._core.files import check_file
from fairtransport._core.notes import Count, Figure, Note
from fairtransport._core.validation import check_integer, check_number, list_values, short_repr
from fairtransport.access.endpoints import Endpoint
from fairtransport.access.http_client import Client, Limits, RefusedError, as_address, as_token
from fairtransport.access.model_files import bytes_of, existing_file, reading
from fairtransport.access.prompt_replies import TOKENS, Answers, as_answers
from fairtransport.access.prompt_templates import (
    EDITED,
    UNEDITED,
    Template,
    Wording,
    as_edits,
    as_template,
)
from fairtransport.errors import InputError, ModelError, param

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

    from fairtransport._core.validation import Values
    from fairtransport.data.columns import Value
    from fairtransport.losses import Answer


PATH = "/chat/completions"


Key = TypeVar("Key")


@dataclass(frozen=True)
class Sampling:
    """Sampling parameters of a language model, which are recorded; see `prompt`."""

    model: str
    temperature: float = 0.0
    seed: int | None = 0
    max_tokens: int | None = 16
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def request(self) -> dict[str, object]:
        """Fields of a request for these parameters."""
        fields = {"model": self.model, "temperature": self.temperature, "seed": self.seed,
                "max_tokens": self.max_tokens, **self.options}  # fmt: skip
        return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True, eq=False)
class Prompt(Endpoint):
    """A language model behind a prompt; each point is a separate request."""

    template: Template = field(default_factory=lambda: Template(""))
    system: str | None = None
    offered: Answers = field(default_factory=lambda: Answers({}, None))
    sampling: Sampling = field(default_factory=lambda: Sampling(""))
    edits: tuple[str, ...] = ()

    @property
    def controls(self) -> dict[str, tuple[str, str]]:
        """A column for each predefined edit of the prompt."""
        return dict.fromkeys(self.edits, (UNEDITED, EDITED))

    @property
    def protocol(self) -> str:
        """Name of the protocol."""
        return "chat completions"

    @property
    def description(self) -> str:
        """Hash of the prompt, name of the model and sampling parameters."""
        seed = "no seed" if self.sampling.seed is None else f"seed {self.sampling.seed}"
        return (
            f"language model {self.sampling.model} at {self.client.address}; prompt with SHA-256 "
            f"{self.digest}, temperature {self.sampling.temperature:g}, {seed}"
        )

    @property
    def answers_at_random(self) -> bool | None:
        """Whether a repeated question can get another answer; None: unknown."""
        if self.sampling.seed is not None:
            return False
        return True if self.sampling.temperature > 0 else None

    @property
    def identity(self) -> str:
        """Identity of the model and the prompt."""
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
        """Number of points per request."""
        return 1

    def notes_on(self, predictions: Values, classes: Sequence[Value]) -> tuple[str, ...]:
        """Return how often, or with what probability, the model gave none of the answers."""
        offered, refusal = short_repr(list(self.offered.labels)), self.offered.refusal
        if predictions.ndim > 1:
            column = predictions[:, list(classes).index(refusal)].astype(np.float64)
            refusals: float = Figure(column.mean())
            what = (
                "The language model gives none of the answers {offered} with a probability of "
                "{refusals:.3g} on average"
            )
        else:
            refusals = Count(np.sum(predictions == refusal))
            what = (
                "For {refusals} of {points} different rows, the language model gave none of the "
                "answers {offered}"
            )
        note = Note(
            what + ". This counts as the answer {refusal!r}.",
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
    """Create a black box from a prompt and a language model.

    Parameters
    ----------
    template
        The prompt, with columns in braces: "{age} years old". ``{sex:possessive}`` is the form
        "possessive" of the column sex, with its own wording.
    url
        Address of a server with OpenAI's chat completions: ``"http://host/v1"``.
    answers
        Allowed answers: words, or a mapping from words to labels. Replies must match a word
        exactly, except for case and surrounding punctuation.
    model
        Name of the model on the server; default: its only one.
    system
        System message.
    wording
        Words for levels, by column: ``{"sex": {"f": "she", "m": "he"}}``. Other text and numbers
        are inserted unchanged.
    stand_ins
        Table of names that signal groups: its last column is one of the template's, the others are
        columns of the audit. Twins get names at the same position in their groups.
    constrain
        "grammar" or "json-schema": the server restricts replies to the answers, so that the model
        cannot refuse either.
    refusal
        Label of all other replies; default: "refusal", or -1 among numbers.
    temperature, seed, max_tokens
        Sampling parameters; None is not sent. With a seed, a repeated question gets the same
        answer.
    options
        Further request fields, such as ``{"max_completion_tokens": 16}``.
    controls
        Predefined edits of the prompt that should not matter, which an audit compares with
        sensitive edits: "blank line", before the last sentence, and "reordered", the sentences that
        hold columns in reverse, or the first one last. In a prompt of several lines, lines count as
        sentences.
    token_variable, at_a_time, timeout, retries, max_answer
        As for `connect`.

    Returns
    -------
    BlackBox
        The ``model`` for `audit`. Labels are read from the replies; scores, if a loss needs them,
        from the probabilities of the first token.

    Raises
    ------
    InputError
        If a setting is invalid, such as a template without columns.

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
"""Request fields that have a parameter."""


def _check_options(options: object) -> dict[str, object]:
    """Return further request fields, which must not replace the question or other parameters."""
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
        got = list_values(names) if names else "no list of them"
        msg = f"{param('model')} must name one of the models of {client.address}, which has {got}"
        raise InputError(msg)
    return names[0]


def _to_list(table: Mapping[Key, object]) -> list[object]:
    """Return a table as a list in canonical order."""
    return [
        [repr(key), _to_list(value) if isinstance(value, Mapping) else value]
        for key, value in sorted(table.items(), key=repr)
    ]


ELSEWHERE = frozenset(
    {"url", "token_variable", "at_a_time", "timeout", "retries", "max_answer"}
)  # fmt: skip
"""Parameters of the connection, not of the prompt."""
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
            msg = f"{file.name!r} must have the key {key!r}, got {list_values(settings)}"
            raise InputError(msg)
    if "stand_ins" in settings:
        settings["stand_ins"] = _table(file, str(settings["stand_ins"]))
    template = settings.pop("template")
    return prompt(template, url, **settings, **limits)


def _table(prompt_file: Path, name: str) -> pd.DataFrame:
    """Return the table of stand-ins, with "NA" and the like read as words."""
    import pandas as pd

    file = prompt_file.parent / name
    check_file("stand_ins", file)
    with reading(file):
        return pd.read_csv(file, keep_default_na=False)
