"""An audit of a file that is asked for in words, on a line or in a form: before it, and its parts.

Who asks in words has no objects to hand over: a column is a name, a similarity is a name with
settings, and what is wrong is to be said before a model is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from fairtransport.access.boxes import choose_access
from fairtransport.errors import InputError
from fairtransport.losses import as_loss
from fairtransport.settings import AuditSettings
from fairtransport.similarity import registry
from fairtransport.space.file_source import FileSource
from fairtransport.space.reader import as_source

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from fairtransport.similarity import Similarity
    from fairtransport.space.reader import TableLike

    Columns: TypeAlias = Callable[[], Mapping[str, list[str]]]
    """Finds out which columns of an audit are sensitive and which others describe a case."""


def settings_before(
    data: Path | None, label: str | None, *, has_model: bool, y_pred: str | None,
    y_score: Sequence[str] | None, **asked: Any,
) -> AuditSettings:  # fmt: skip
    """Return what is asked, or refuse what needs no model to be seen, as reading one takes long.

    Parameters
    ----------
    data
        The file; None where it is looked at later.
    label
        The column of true labels.
    has_model
        Whether there will be a model.
    y_pred, y_score
        The columns of predictions.
    asked
        The fields of `AuditSettings`. The similarity, which may have to know the model's columns,
        may be left open.
    """
    if data is not None:
        FileSource(data)
    loss = as_loss(asked.get("loss", AuditSettings.loss), asked.get("loss_range"))
    # any callable stands for the model
    choose_access(len if has_model else None, y_pred, y_score, loss)
    settings = AuditSettings(**asked)
    if loss.uses_truth and label is None:
        msg = f"`y` must be given for the loss {loss.name!r}, got None"
        raise InputError(msg)
    return settings


def columns_described(
    data: TableLike, sensitive: Collection[str], features: Collection[str] | None,
    known: Collection[str] | None, others: Collection[str | None],
) -> dict[str, list[str]]:  # fmt: skip
    """Return the columns that a similarity is about, as the audit will choose them.

    Parameters
    ----------
    data
        The file.
    sensitive, features
        As they were asked for.
    known
        The columns that the model was fitted on; None where it does not tell.
    others
        Columns that describe nobody: label, counts, predictions.
    """
    chosen: Collection[str] | None = features or known
    if chosen is None:
        chosen = [name for name in as_source(data).columns if name not in others]
    rest = [name for name in chosen if name not in sensitive]
    return {"sensitive_features": list(sensitive), "features": rest}


def known_features(models: Iterable[object]) -> tuple[str, ...] | None:
    """Return the columns that any of some models was fitted on; None if one does not tell."""
    known = [getattr(one, "features", None) for one in models]
    if not known or None in known:
        return None
    return tuple(dict.fromkeys(name for names in known for name in names or ()))


def chosen_similarity(
    name: str, settings: Mapping[str, object], columns: Columns
) -> str | Similarity:
    """Return a similarity, by its name or made from its settings.

    ``columns`` is asked what a similarity that is fitted has to know, where it is not told.
    """
    if not settings:
        registry.as_similarity(name)  # fails where settings are needed
        return name
    defaults = columns() if "fit" in settings else {}
    return registry.similarity_from_settings(name, settings, defaults=defaults)
