"""Models in ONNX files, run by onnxruntime."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fairtransport.access.casting import cast, plain_column
from fairtransport.access.onnx_contents import Contents, contents_of
from fairtransport.access.opening import Permissions, bytes_of, existing_file, reading
from fairtransport.archives import MOST
from fairtransport.checks import shown, whole
from fairtransport.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray
    from onnxruntime import RunOptions, SessionOptions

    from fairtransport.losses import Answer
    from fairtransport.space.columns import Value, Values

TYPES = {
    "tensor(float16)": "f2", "tensor(float)": "f4", "tensor(double)": "f8", "tensor(bool)": "?",
    "tensor(int8)": "i1", "tensor(int16)": "i2", "tensor(int32)": "i4", "tensor(int64)": "i8",
    "tensor(uint8)": "u1", "tensor(uint16)": "u2", "tensor(uint32)": "u4", "tensor(uint64)": "u8",
    "tensor(string)": "O",
}  # fmt: skip
"""The types of columns in numpy's words."""
FRACTIONS = frozenset({"tensor(float16)", "tensor(float)", "tensor(double)"})
SILENT = 4
"""The severity from which on onnxruntime logs: its errors are ours to tell."""
IN_SINGLE_PRECISION = (
    "The ONNX file computes in single precision, so that its scores, and labels near a threshold, "
    "can differ from those of the model that it was converted from; the audit is about the file."
)


class End(Protocol):
    """An input or output of a session."""

    name: str
    type: str
    shape: Sequence[int | str | None]


class Session(Protocol):
    """What onnxruntime's sessions do, as far as it is needed."""

    def get_inputs(self) -> Sequence[End]:
        """Return what goes in."""
        ...

    def get_outputs(self) -> Sequence[End]:
        """Return what comes out."""
        ...

    def run(
        self, names: Sequence[str], inputs: Mapping[str, Values], how: RunOptions
    ) -> Sequence[Values | list[Values | dict[Value, float]]]:
        """Return the outputs of these names.

        Parameters
        ----------
        names
            Of the outputs.
        inputs
            Arrays by the inputs' names.
        how
            The run's options.
        """
        ...


@dataclass(frozen=True, eq=False)
class OnnxModel:
    """A model in an ONNX file; where the file lay is not remembered.

    Attributes
    ----------
    session
        Runs it.
    contents
        What is known of it without running it.
    sha256
        The hash of the file's bytes and those of its data beside it, in hexadecimal digits.
    columns
        Names of the columns of a model that takes them all as one table.
    """

    session: Session
    contents: Contents
    sha256: str
    columns: tuple[str, ...] | None = None

    name = "ONNX"
    library = "pandas"

    @property
    def description(self) -> str:
        """The kind of file and its hash."""
        return f"ONNX model; file with SHA-256 {self.sha256}"

    @property
    def identity(self) -> str:
        """What tells this model from others."""
        return f"onnx {self.sha256}"

    def notes_on(self, _: Values, __: Sequence[Value]) -> tuple[str, ...]:
        """Return what readers of the answers should know."""
        return (IN_SINGLE_PRECISION,) if self._is_single else ()

    @property
    def features(self) -> tuple[str, ...] | None:
        """The names of its inputs; None where it takes a table whose columns have no names."""
        if self._takes_a_table:
            return self.columns
        return tuple(one.name for one in self.session.get_inputs())

    @property
    def classes(self) -> Sequence[Value] | None:
        """The class labels that the file names."""
        return self.contents.classes or None

    def answer(self, points: pd.DataFrame, kind: Answer) -> object:
        """Return labels, class scores or numbers, one a row.

        Parameters
        ----------
        points, kind
            As in `BlackBox.answer`.
        """
        output = self._output(kind)
        from onnxruntime import RunOptions

        quiet = RunOptions()
        quiet.log_severity_level = SILENT
        (said,) = self.session.run([output.name], self._inputs(points), quiet)
        if isinstance(said, list):
            maps = [one for one in said if isinstance(one, dict)]
            return self._from_maps(maps) if maps else said
        return said

    def _inputs(self, points: pd.DataFrame) -> dict[str, Values]:
        """Return the session's inputs: one table, or one array a column, in the declared types.

        Raises
        ------
        ModelError
            If the number of columns is wrong, or a value does not fit its type.
        """
        inputs = self.session.get_inputs()
        names = list(points.columns)
        who = f"the model {self.name}"
        if self._takes_a_table:
            wanted = _type(inputs[0])
            width = inputs[0].shape[1]
            if isinstance(width, int) and width != len(names):
                msg = f"{who} takes {width} columns, got {len(names)}: {shown(names)}"
                raise ModelError(msg)
            table = [cast(plain_column(points, name), wanted, who, name) for name in names]
            return {inputs[0].name: np.column_stack(table)}
        made = {}
        for one in inputs:
            column = cast(plain_column(points, one.name), _type(one), who, one.name)
            made[one.name] = column if len(one.shape) == 1 else column[:, None]
        return made

    def _output(self, kind: Answer) -> End:
        """Return the output that holds what is asked for.

        Parameters
        ----------
        kind
            Scores are in maps or fractions, labels in whole numbers or text; a regressor's only
            output, fractions, holds values.

        Raises
        ------
        ModelError
            If there is none, naming those that there are.
        """
        outputs = self.session.get_outputs()
        maps = [one for one in outputs if one.type.startswith("seq(map(")]
        fractions = [one for one in outputs if one.type in FRACTIONS]
        labels = [one for one in outputs if one.type in TYPES and one not in fractions]
        scores = maps or (fractions if labels or kind == "score" else [])
        wanted = scores if kind == "score" else labels or fractions
        if kind == "label" and not labels:
            wanted = []
        if not wanted:
            got = ", ".join(f"{one.name} ({one.type})" for one in outputs)
            msg = f"the model {self.name} has no output that holds {kind}s, got {got}"
            raise ModelError(msg)
        likely = [one for one in wanted if "prob" in one.name.lower()]
        return (likely or wanted)[0] if kind == "score" else wanted[0]

    def _from_maps(self, said: Sequence[Mapping[Any, float]]) -> NDArray[np.float64]:
        """Return scores in the order of classes from one map of scores a point.

        Parameters
        ----------
        said
            A score by label, point by point, as converters of scikit-learn write them.

        Raises
        ------
        ModelError
            If a label is missing.
        """
        classes = list(self.classes or sorted(said[0]))
        if any(set(one) != set(classes) for one in said):
            msg = f"the model {self.name} must give a score to each of {shown(classes)}"
            raise ModelError(msg)
        return np.array([[one[label] for label in classes] for one in said])

    @property
    def _takes_a_table(self) -> bool:
        """Whether all columns go into one input."""
        inputs = self.session.get_inputs()
        return len(inputs) == 1 and len(inputs[0].shape) > 1 and inputs[0].shape[1] != 1

    @property
    def _is_single(self) -> bool:
        """Whether something in it is computed in single or half precision."""
        ends = [*self.session.get_inputs(), *self.session.get_outputs()]
        return self.contents.single or any("float" in one.type for one in ends)


def read_onnx(path: str, allowed: Permissions) -> OnnxModel:
    """Return the model in an ONNX file.

    Parameters
    ----------
    path
        The file.
    allowed
        How much may be unpacked.
    """
    return open_onnx(existing_file(path), allowed)


def open_onnx(
    file: Path, allowed: Permissions, columns: tuple[str, ...] | None = None
) -> OnnxModel:
    """Return the model in an ONNX file, whose columns may be named elsewhere.

    Parameters
    ----------
    file
        The file; data beside it is found in its folder.
    allowed
        How much may be unpacked.
    columns
        Names for the columns of a model that takes one table.

    Raises
    ------
    ModelError
        If onnxruntime is missing, or the file is damaged, too large or no model of columns.
    """
    try:
        import onnxruntime
    except ImportError as error:
        msg = "ONNX files need the package onnxruntime: pip install 'fairtransport[onnx]'"
        raise ModelError(msg) from error
    most = None if allowed.max_unpacked is None else whole("max_unpacked", allowed.max_unpacked)
    data = bytes_of(file)
    with reading(file):
        contents = contents_of(data, file, most)
        _limit_memory()
        session = onnxruntime.InferenceSession(
            data, _options(file), providers=["CPUExecutionProvider"]
        )
        _check_ends(session, file)
    digest = sha256(data)
    for location in sorted(contents.outside):
        digest.update(bytes_of(contents.outside[location]))
    return OnnxModel(session, contents, digest.hexdigest(), columns)


def _options(file: Path) -> SessionOptions:
    """Return a session's options: quiet, one thread, data from the model's own folder.

    Parameters
    ----------
    file
        The model. Weights that lie beside it are looked for in its folder, not in the current one.
    """
    from onnxruntime import SessionOptions

    options = SessionOptions()
    options.log_severity_level = SILENT
    # sums in the order of one thread are the same on every machine
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.use_env_allocators", "1")
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", str(file.parent.resolve())
    )
    return options


@cache
def _limit_memory() -> None:
    """Let onnxruntime fill no more than so much memory: a small file can ask for any amount."""
    import onnxruntime as ort

    place = ort.OrtMemoryInfo(
        "Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT
    )
    with suppress(Exception):  # the program around us has set a limit of its own
        ort.create_and_register_allocator(place, ort.OrtArenaCfg({"max_mem": 4 * MOST}))


def _check_ends(session: Session, file: Path) -> None:
    """Refuse a model whose inputs are no columns.

    Parameters
    ----------
    session
        The model.
    file
        Its file, for messages.

    Raises
    ------
    ModelError
        Naming the first input that is none, or if there are several tables.
    """
    for one in session.get_inputs():
        if one.type not in TYPES or len(one.shape) not in {1, 2}:
            msg = (
                f"{file.name!r} must take columns of text, numbers or truth values, got the input "
                f"{one.name!r} of type {one.type} and shape {one.shape}"
            )
            raise ModelError(msg)
    if len(session.get_inputs()) > 1 and any(
        len(one.shape) > 1 and one.shape[1] not in {1, None} for one in session.get_inputs()
    ):
        msg = f"{file.name!r} must take one table or one input a column, got several tables"
        raise ModelError(msg)


def _type(one: End) -> np.dtype[np.generic]:
    """Return an input's type in NumPy's words."""
    return np.dtype(TYPES[one.type])
