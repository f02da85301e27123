"""All moves as a file: CSV or Parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtransport.errors import InputError
from fairtransport.space.database import Database

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pandas as pd

CSV, PARQUET = ".csv", ".parquet"
SCORED = ("prediction", "prediction_after")


def check_moves_ending(flag: str, path: Path) -> None:
    """Refuse a file that is neither CSV nor Parquet.

    Parameters
    ----------
    flag
        The parameter, for the message.
    path
        Looked at before an audit starts, so that nobody waits for a file that cannot be written.

    Raises
    ------
    InputError
        If it has another ending.
    """
    if path.suffix.lower() not in (CSV, PARQUET):
        msg = f"`{flag}` must end in {CSV} or {PARQUET}, got {path.name!r}"
        raise InputError(msg)


def moves_bytes(
    path: Path, columns: Mapping[str, Sequence[Any]], classes: Sequence[object]
) -> bytes:
    """Return a table of moves as the bytes of a file, by its ending.

    Parameters
    ----------
    path
        Only its ending matters here; the caller writes.
    columns
        From `moves_columns`.
    classes
        The classes of scores, each a column of its own; empty where predictions are single
        values.
    """
    import pandas as pd

    check_moves_ending("path", path)
    table = pd.DataFrame(_flat(columns, classes))
    if path.suffix.lower() == CSV:
        return table.to_csv(index=False, lineterminator="\n").encode("utf-8", "backslashreplace")
    # DuckDB writes Parquet, so that no further library is needed
    return Database().as_parquet(_typed(table))


def _flat(
    columns: Mapping[str, Sequence[Any]], classes: Sequence[object]
) -> dict[str, Sequence[Any]]:
    """Return the columns with one for each class where there are scores.

    Parameters
    ----------
    columns, classes
        As in `moves_bytes`.

    Examples
    --------
    >>> _flat({"prediction": [(0.2, 0.8)]}, ["no", "yes"])
    {'prediction_no': [0.2], 'prediction_yes': [0.8]}
    """
    flat: dict[str, Sequence[Any]] = {}
    for name, values in columns.items():
        if name in SCORED and classes:
            for at, label in enumerate(classes):
                flat[f"{name}_{label}"] = [scores[at] for scores in values]
        else:
            flat[name] = values
    return flat


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose columns of unlike values are text, which Parquet has no other way for.

    A column of nothing but missing values is text too.

    Parameters
    ----------
    table
        Changed in place.
    """
    from pandas.api.types import infer_dtype

    mixed = [
        name
        for name in table.columns
        if table[name].dtype == object
        and infer_dtype(table[name], skipna=True) not in {"string", "boolean"}
    ]
    for name in mixed:
        table[name] = table[name].map(str, na_action="ignore").astype("str")
    return table
