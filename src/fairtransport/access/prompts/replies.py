"""What a language model says, as one of the answers it was offered; anything else is a refusal."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtransport.access.boxes import plain_items
from fairtransport.checks import choice, shown
from fairtransport.errors import InputError, ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport.space.columns import Value

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
    """The answers a language model is offered.

    Attributes
    ----------
    labels
        The label of each answer, by its text.
    refusal
        The label of whatever is none of them.
    constrain
        How the server is told to give no others: "grammar", "json-schema", or None.
    """

    labels: Mapping[str, Value]
    refusal: Value
    constrain: str | None = None

    @property
    def classes(self) -> list[Value]:
        """The labels, the refusal last."""
        return [*dict.fromkeys(self.labels.values()), self.refusal]

    @property
    def request(self) -> dict[str, object]:
        """What a request says of the answers: a grammar, a JSON schema, or nothing."""
        if self.constrain == "grammar":
            ways = " | ".join(json.dumps(text, ensure_ascii=False) for text in self.labels)
            return {"grammar": f"root ::= {ways}"}
        if self.constrain == "json-schema":
            answer = {"type": "string", "enum": list(self.labels)}
            schema = {"type": "object", "properties": {"answer": answer}, "required": ["answer"],
                      "additionalProperties": False}  # fmt: skip
            told = {"name": "answer", "strict": True, "schema": schema}
            return {"response_format": {"type": "json_schema", "json_schema": told}}
        return {}

    def label(self, document: object, who: str) -> Value:
        """Return the label of a reply: an answer word for word, but for case and signs around.

        Parameters
        ----------
        document
            What the server sent.
        who
            Which server, for messages.

        Returns
        -------
        Value
            The refusal's for a reply that was cut short, filtered, refused or is anything else.
        """
        chosen = _choice(document, who)
        told = chosen.get("message")
        message = told if isinstance(told, Mapping) else {}
        text = message.get("content")
        is_cut = chosen.get("finish_reason") in {"length", "content_filter"}
        if not isinstance(text, str) or is_cut or message.get("refusal"):
            return self.refusal
        if self.constrain == "json-schema":
            text = _from_json(text)
        return self._by_word.get(_bare(text), self.refusal)

    def scores(self, document: object, who: str) -> list[float]:
        """Return the probability that a reply begins as each label's answers do.

        What is left over, also where the server names too few tokens, is the refusal's; all of
        it is where the model says nothing.

        Parameters
        ----------
        document
            What the server sent, with log-probabilities of first tokens.
        who
            Which server, for messages.

        Returns
        -------
        list of float
            In the order of `classes`, summing to 1.

        Raises
        ------
        ModelError
            If a likely first token begins several labels' answers, or no probabilities came.
        """
        order = self.classes
        if _is_silent(_choice(document, who)):
            return [float(label == self.refusal) for label in order]
        first = _first_tokens(document, who)
        found = dict.fromkeys(order, 0.0)
        for token, chance in first:
            labels = {
                label for text, label in self._by_word.items() if text.startswith(_bare(token))
            }
            if _bare(token) and len(labels) > 1:
                msg = (
                    f"{who} gave the first token {shown(token)}, with which several answers begin: "
                    "choose `answers` that differ in their first letters"
                )
                raise ModelError(msg)
            if _bare(token) and labels:
                found[labels.pop()] += chance
        found[self.refusal] = max(0.0, 1 - sum(found.values()))
        whole = sum(found.values())
        return [found[label] / whole for label in order]

    @property
    def _by_word(self) -> dict[str, Value]:
        """Labels by their answers as they are compared: bare, in small letters."""
        return {_bare(text): label for text, label in self.labels.items()}


def as_answers(answers: object, refusal: Value, constrain: str | None) -> Answers:
    """Return the answers that a user describes, checked.

    Parameters
    ----------
    answers
        Words, or a table of words and labels.
    refusal
        The label of anything else; None: "refusal", or −1 among numbers.
    constrain
        "grammar", "json-schema" or None.

    Raises
    ------
    InputError
        If there are not two or more that differ, or the refusal's label is one of theirs.

    Examples
    --------
    >>> as_answers(["yes", "no"], None, None).classes
    ['yes', 'no', 'refusal']
    """
    listed = answers if isinstance(answers, Mapping) else plain_items(answers)
    if isinstance(listed, list):
        listed = {str(one): one for one in listed}
    if not listed or len({_bare(str(text)) for text in listed} - {""}) < max(2, len(listed)):
        msg = (
            "`answers` must be two or more different words, or a table of words and their labels, "
            f"got {shown(answers)}"
        )
        raise InputError(msg)
    labels = {str(text): label for text, label in listed.items()}
    if refusal is None:
        is_text = any(isinstance(label, str) for label in labels.values())
        refusal = REFUSAL if is_text else -1
    if refusal in labels.values():
        msg = f"`refusal` must be none of the answers' labels, got {shown(refusal)}"
        raise InputError(msg)
    how = None if constrain is None else choice("constrain", constrain, CONSTRAINTS)
    return Answers(labels, refusal, how)


def _bare(text: str) -> str:
    """Return an answer without the signs around it, in small letters."""
    return text.strip(AROUND).casefold()


def _choice(document: object, who: str) -> Mapping[str, object]:
    """Return the first choice of a chat completion.

    Raises
    ------
    ModelError
        If the document has none.
    """
    choices = document.get("choices") if isinstance(document, Mapping) else None
    found = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(found, Mapping):
        msg = f"{who} must answer with a choice, got {shown(document)}"
        raise ModelError(msg)
    return found


def _is_silent(chosen: Mapping[str, object]) -> bool:
    """Say whether a reply has nothing in it, or half a character; servers tell no chances then.

    Parameters
    ----------
    chosen
        A choice of the document.

    Examples
    --------
    >>> _is_silent({"message": {"content": ""}}), _is_silent({"message": {"content": "yes"}})
    (True, False)
    """
    message = chosen.get("message")
    text = message.get("content") if isinstance(message, Mapping) else None
    return not str(text or "").strip(HALF) and not chosen.get("logprobs")


def _from_json(text: str) -> str:
    """Return the answer in a JSON reply; empty, which is a refusal, if there is none.

    Examples
    --------
    >>> _from_json('{"answer": "yes"}'), _from_json("I cannot say")
    ('yes', '')
    """
    try:
        return str(json.loads(text)["answer"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""


def _first_tokens(document: object, who: str) -> Sequence[tuple[str, float]]:
    """Return the likeliest first tokens and how likely each is.

    Parameters
    ----------
    document, who
        As in `Answers.scores`.

    Raises
    ------
    ModelError
        If there are none, or their probabilities sum to more than 1.

    Examples
    --------
    >>> told = {"content": [{"top_logprobs": [{"token": "yes", "logprob": 0.0}]}]}
    >>> _first_tokens({"choices": [{"logprobs": told}]}, "the endpoint")
    [('yes', 1.0)]
    """
    told = _choice(document, who).get("logprobs")
    try:
        tokens = told["content"][0]["top_logprobs"]  # type: ignore[index]
        found = [(str(one["token"]), math.exp(one["logprob"])) for one in tokens]
    except (KeyError, IndexError, TypeError, OverflowError):
        found = []
    total = math.fsum(chance for _, chance in found)
    if not found or not total <= 1 + 1e-3:
        msg = f"{who} must tell the log-probabilities of first tokens, got {shown(told)}"
        raise ModelError(msg)
    return found
