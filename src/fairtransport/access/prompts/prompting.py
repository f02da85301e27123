"""prompt(): a language model behind a prompt as a black box."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from fairtransport.access.endpoints.address import as_address, as_token
from fairtransport.access.endpoints.client import Client, Limits, RefusedError
from fairtransport.access.endpoints.endpoint import Endpoint
from fairtransport.access.prompts.replies import TOKENS, Answers, as_answers
from fairtransport.access.prompts.template import Template, as_template
from fairtransport.checks import number, shown, whole
from fairtransport.errors import InputError, ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from fairtransport.access.prompts.template import Wording
    from fairtransport.losses import Answer
    from fairtransport.space.columns import Value, Values

PATH = "/chat/completions"

Key = TypeVar("Key")


@dataclass(frozen=True)
class Sampling:
    """How a language model is asked, which is recorded; see `prompt`.

    Attributes
    ----------
    model
        What the server calls it.
    temperature, seed, max_tokens
        Fields of a request; None is not sent.
    options
        Further fields, as the user gave them.
    """

    model: str
    temperature: float = 0.0
    seed: int | None = 0
    max_tokens: int | None = 16
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def request(self) -> dict[str, object]:
        """What a request says of it."""
        told = {"model": self.model, "temperature": self.temperature, "seed": self.seed,
                "max_tokens": self.max_tokens, **self.options}  # fmt: skip
        return {name: value for name, value in told.items() if value is not None}


@dataclass(frozen=True, eq=False)
class Prompt(Endpoint):
    """A language model behind a prompt; each point is a request of its own.

    Attributes
    ----------
    template, system
        The prompt, and what the model is told before it.
    offered
        The answers it may give.
    sampling
        How it is asked.
    """

    template: Template = field(default_factory=lambda: Template(""))
    system: str | None = None
    offered: Answers = field(default_factory=lambda: Answers({}, None))
    sampling: Sampling = field(default_factory=lambda: Sampling(""))

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
        """The hash of all that is said to the model but for the people.

        Two prompts with the same one ask the same questions of the same answers in the same way.
        """
        names = self.template.stand_ins
        told = [
            self.template.text, self.system, _listed(self.template.wording),
            None if names is None else [names.name, names.keys, _listed(names.names)],
            list(self.offered.labels.items()), self.offered.refusal, self.offered.constrain,
            _listed(self.sampling.request),
        ]  # fmt: skip
        return sha256(json.dumps(told, default=str).encode()).hexdigest()

    @property
    def batch_size(self) -> int:
        """How many points go into one request."""
        return 1

    def notes_on(self, predictions: Values, classes: Sequence[Value]) -> tuple[str, ...]:
        """Say how often the model gave none of the answers, or how likely that was.

        Parameters
        ----------
        predictions
            Labels, or scores with one column a class.
        classes
            The labels in the order of these columns.
        """
        offered, refusal = shown(list(self.offered.labels)), self.offered.refusal
        if predictions.ndim > 1:
            column = predictions[:, list(classes).index(refusal)].astype(np.float64)
            likely = float(column.mean())
            what = f"Over all points the probability of none of the answers {offered} is "
            what += f"{likely:.3g} on average"
        else:
            likely = int(np.sum(predictions == refusal))
            what = f"At {likely} of {len(predictions)} points the language model gave none of "
            what += f"the answers {offered}"
        return (f"{what}; that is counted as the answer {refusal!r}.",) if likely else ()

    def ask(self, points: pd.DataFrame, kind: Answer) -> list[object]:
        """Return the answer to one point: a label, or the scores of all labels.

        Parameters
        ----------
        points
            One row.
        kind
            Scores are read from the probabilities of the first token, anything else from the words.

        Raises
        ------
        ModelError
            If a number is needed and the model gave none of the answers.
        """
        (text,) = self.template.prompts(points)
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
                f"{self.client} gave none of the answers to {shown(text)}, which has no place "
                "among numbers: choose a loss on labels, or `pos_label`"
            )
            raise ModelError(msg)
        return [label]

    def _post(self, request: dict[str, object]) -> object:
        """Return the server's document; None where it refuses because of what was asked.

        Parameters
        ----------
        request
            The fields of a chat completion.
        """
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
    options: Mapping[str, object] | None = None, token_variable: str | None = None,
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
    found = as_template(template, wording, stand_ins)
    offered = as_answers(answers, refusal, constrain)
    number("temperature", temperature, at_least=0)
    if seed is not None:
        whole("seed", seed, at_least=0)
    if max_tokens is not None:
        whole("max_tokens", max_tokens)
    said: object = system
    if not isinstance(said, str | None):
        msg = f"`system` must be a text, got {shown(said)}"
        raise InputError(msg)
    address = as_address(url)
    base = address.path.removesuffix(PATH) or "/v1"
    client = Client(address.at(base + PATH), limits, as_token(token_variable, address))
    name = _only_model(client, base) if model is None else str(model)
    sampling = Sampling(name, float(temperature), seed, max_tokens, dict(options or {}))
    return Prompt(
        client, features=found.columns, classes=offered.classes, template=found, system=system,
        offered=offered, sampling=sampling,
    )  # fmt: skip


def _only_model(client: Client, base: str) -> str:
    """Return the name of the only model that a server has.

    Parameters
    ----------
    client
        Asks it.
    base
        The path in front of ``/models``.

    Raises
    ------
    InputError
        If it has several, or does not say.
    """
    told = client.get(f"{base}/models")
    listed = told.get("data") if isinstance(told, dict) else None
    names = [str(one["id"]) for one in listed or () if isinstance(one, dict) and "id" in one]
    if len(names) != 1:
        got = shown(names) if names else "none that it tells of"
        msg = f"`model` must name one of the models of {client.address}, which has {got}"
        raise InputError(msg)
    return names[0]


def _listed(table: Mapping[Key, object]) -> list[object]:
    """Return a table as a list that is the same for the same table.

    Parameters
    ----------
    table
        Perhaps nested; sorted by its keys at every level.

    Examples
    --------
    >>> _listed({"b": 1, "a": {"x": 2}})
    [["'a'", [["'x'", 2]]], ["'b'", 1]]
    """
    return [
        [repr(key), _listed(value) if isinstance(value, Mapping) else value]
        for key, value in sorted(table.items(), key=repr)
    ]
