"""The text of prompts and of replies: templates, wordings, stand-ins for groups, answers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from string import Formatter
from typing import TYPE_CHECKING, TypeAlias

from fairtransport._core.validation import check_choice, is_among, short_repr
from fairtransport.access.black_box import plain_items
from fairtransport.access.model_files import plain_column
from fairtransport.errors import InputError, ModelError, param

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from fairtransport.data.columns import Value


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
