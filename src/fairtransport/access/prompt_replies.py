"""Replies of a language model: labels from texts, and the probability of each label."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtransport._core.validation import check_choice, short_repr
from fairtransport.access.black_box import plain_items
from fairtransport.errors import InputError, ModelError, param

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport.data.columns import Value


CONSTRAINTS = ("grammar", "json-schema")
REFUSAL = "refusal"
"""Label of a refusal among text labels."""
AROUND = " \t\r\n\"'`.!*"
"""Characters around an answer that are ignored."""
HALF = "\N{REPLACEMENT CHARACTER}"
"""Stands for an incomplete character."""
TOKENS = 20
"""Number of most likely first tokens to request."""


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
        # another reply is a refusal, not an error, as it may depend on the person
        return self._by_word.get(_bare(text), self.refusal)

    def scores(self, document: object, who: str) -> list[float]:
        """Return the probability of each label, by the first token of its answers.

        The remainder is the refusal's, also if the server lists too few tokens.
        """
        order = self.classes
        if _is_silent(_choice(document, who)):
            # an empty reply is certainly a refusal
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
                    "begin: choose `answers` that differ in their first letters"
                )
                raise ModelError(msg)
            if _bare(token) and labels:
                chances[labels.pop()] += chance
        # tokens that begin no answer, and unlisted ones, count as refusals
        chances[self.refusal] = max(0.0, 1 - sum(chances.values()))
        total = sum(chances.values())
        return [chances[label] / total for label in order]

    @property
    def _by_word(self) -> dict[str, Value]:
        """Labels by normalised answer."""
        return {_bare(text): label for text, label in self.labels.items()}


def as_answers(answers: object, refusal: Value, constrain: str | None) -> Answers:
    """Return checked answers."""
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
    """Return an answer in lower case, without the characters around it."""
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
        msg = f"{who} must return the log-probabilities of first tokens, got {short_repr(logprobs)}"
        raise ModelError(msg)
    return chances
