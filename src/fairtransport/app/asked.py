"""What a form asks for, as plain values that another process can be sent; and carrying it out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtransport.access import load
from fairtransport.audit import audit_with, compare_with
from fairtransport.audit.files import (
    chosen_similarity,
    columns_described,
    known_features,
    settings_before,
)
from fairtransport.settings import AuditSettings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairtransport.audit import AuditResult, Comparison
    from fairtransport.similarity import Similarity


@dataclass(frozen=True, kw_only=True)
class Answering:
    """Where the answers of one model come from: a file, or a column of predictions or scores.

    Attributes
    ----------
    name
        What a comparison calls it.
    model
        A model file or folder.
    allow_pickle
        Whether it may be a pickle.
    y_pred, y_score
        The column of predictions, or of scores.
    shown
        The file's name as its owner knows it.
    """

    name: str = "the model"
    model: Path | None = None
    allow_pickle: bool = False
    y_pred: str | None = None
    y_score: str | None = None
    shown: str = ""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """An audit of one model, or a comparison of two.

    Attributes
    ----------
    data, shown
        The file, and its name as its owner knows it.
    label
        The column of true labels.
    answering
        Where answers come from, one a model.
    described
        The columns that describe a case, if some were left out; else None.
    similarity, similarity_settings
        Who is comparable.
    tolerance
        How much more bias the second model may have.
    settings
        What else was said, by the names of `AuditSettings`.
    columns
        What a similarity that is learned is told of the columns; None until it is known.
    """

    data: Path
    shown: str
    label: str | None
    answering: tuple[Answering, ...]
    described: tuple[str, ...] | None = None
    similarity: str = str(AuditSettings.similarity)
    similarity_settings: Mapping[str, Any] = field(default_factory=dict)
    tolerance: float = 0.0
    settings: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, list[str]] | None = None

    @property
    def name(self) -> str:
        """The file's name, without its folder."""
        return Path(self.shown).name

    @property
    def compares(self) -> bool:
        """Whether there are two models."""
        return len(self.answering) > 1

    @property
    def first(self) -> Answering:
        """The model that is audited, or compared with."""
        return self.answering[0]


def check(asked: Asked) -> AuditSettings:
    """Return the settings, or refuse what is found wrong without the model."""
    first = asked.first
    settings = settings_before(
        asked.data,
        asked.label,
        has_model=first.model is not None,
        y_pred=first.y_pred,
        y_score=None if first.y_score is None else [first.y_score],
        **asked.settings,
    )
    return replace(settings, similarity=_similarity(asked))


def _similarity(asked: Asked) -> str | Similarity:
    unknown = {"sensitive_features": list(asked.settings["sensitive_features"]), "features": []}
    columns = asked.columns or unknown
    return chosen_similarity(asked.similarity, asked.similarity_settings, lambda: columns)


def resolve(asked: Asked, models: Sequence[object]) -> Asked:
    """Return what is asked with what only the models can tell.

    That is the columns that describe a case (a model that tells its columns receives these,
    another receives those that were marked), and those that a similarity is to be learned of.
    """
    known = known_features(models)
    if asked.described is not None and known is None:
        asked = replace(asked, settings={**asked.settings, "features": list(asked.described)})
    if "fit" not in asked.similarity_settings:
        return asked
    predictions = [name for one in asked.answering for name in (one.y_pred, one.y_score)]
    columns = columns_described(
        asked.data,
        asked.settings["sensitive_features"],
        asked.settings.get("features"),
        known,
        [asked.label, asked.settings.get("counts"), *predictions],
    )
    return replace(asked, columns=columns)


def read_models(asked: Asked) -> list[object]:
    """Read the model files; none where predictions are given."""
    return [
        load(one.model, allow_pickle=one.allow_pickle)
        for one in asked.answering
        if one.model is not None
    ]


def carry_out(asked: Asked, models: Sequence[object]) -> AuditResult | Comparison:
    """Audit or compare, as `resolve` returned it."""
    complete = check(asked)
    if not asked.compares:
        return audit_with(complete, asked.data, asked.label, **_of_one(asked.first, models))
    return compare_with(
        complete, asked.data, asked.label, tolerance=asked.tolerance, **of_each(asked, models)
    )


def _of_one(first: Answering, models: Sequence[object]) -> dict[str, Any]:
    if models:
        return {"model": models[0]}
    return {"y_pred": first.y_pred} if first.y_score is None else {"y_score": [first.y_score]}


def of_each(asked: Asked, models: Sequence[object]) -> dict[str, dict[str, Any]]:
    """Return where the answers of each model come from, as `compare` takes it."""
    names = [one.name for one in asked.answering]
    if models:
        return {"models": dict(zip(names, models, strict=True))}
    if asked.first.y_score is None:
        return {"y_pred": {one.name: one.y_pred for one in asked.answering}}
    return {"y_score": {one.name: one.y_score for one in asked.answering}}
