"""Models behind addresses: `connect`, MLflow's protocol and the Open Inference Protocol v2."""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from itertools import islice
from queue import Queue
from threading import Thread
from typing import TYPE_CHECKING, Any, TypedDict, TypeGuard, TypeVar

import numpy as np

from fairtransport._core.validation import check_choice, short_repr
from fairtransport.access.black_box import BlackBox, plain_items
from fairtransport.access.http_client import Client, Limits, as_address, as_token
from fairtransport.access.model_files import cast, plain_column
from fairtransport.errors import InputError, ModelError, param

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from fairtransport.access.model_files import Permissions
    from fairtransport.data.columns import Value
    from fairtransport.losses import Answer


T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Endpoint(BlackBox):
    """A model behind an address.

    A new protocol is a subclass with `protocol` and `ask`; batches, parallel requests, retries, the
    query log and every check are shared.
    """

    client: Client
    features: tuple[str, ...] | None = None
    classes: Sequence[Value] | None = None
    library: str | None = field(default="pandas", init=False)

    @property
    @abstractmethod
    def protocol(self) -> str:
        """Name of the protocol."""

    @abstractmethod
    def ask(self, points: pd.DataFrame, kind: Answer) -> list[object]:
        """Return the answers to one batch, one per point."""

    @property
    def name(self) -> str:
        """The address."""
        return str(self.client.address)

    @property
    def description(self) -> str:
        """Protocol and address."""
        return f"{self.protocol} endpoint at {self.client.address}"

    @property
    def identity(self) -> str:
        """Identity of the model, as far as the endpoint reveals it."""
        return f"{self.protocol} {self.client.address}"

    @property
    def batch_size(self) -> int:
        """Number of points per request."""
        return self.client.limits.batch_size

    @property
    def points_per_call(self) -> int:
        """Number of points in parallel requests."""
        return self.batch_size * self.client.limits.at_a_time

    @property
    def is_streaming(self) -> bool:
        """Whether answers arrive in parts: one per request."""
        return True

    def stream_answers(
        self, points: pd.DataFrame, kind: Answer, check: Callable[[Any, int], T]
    ) -> Iterator[tuple[range, T]]:
        """Yield the rows and checked answers of each request as it returns."""
        parts = [
            range(start, min(start + self.batch_size, len(points)))
            for start in range(0, len(points), self.batch_size)
        ]

        def ask_part(part: range) -> T:
            """Return the checked answers to one batch, one per point."""
            answers = self.ask(points.iloc[part.start : part.stop], kind)
            if len(answers) != len(part):
                msg = (
                    f"{self.client} must give one answer per row ({len(part)}), got {len(answers)}"
                )
                raise ModelError(msg)
            return check(answers, len(part))

        for index, answers in ask_in_parallel(ask_part, parts, self.client.limits.at_a_time):
            yield parts[index], answers

    def answer(self, points: pd.DataFrame, kind: Answer) -> list[object]:
        """Return the answers to all points, in their order."""
        result: list[object] = [None] * len(points)
        for part, answers in self.stream_answers(points, kind, lambda answers, _: answers):
            result[part.start : part.stop] = answers
        return result

    def wrong_answer(self, kind: Answer, got: object) -> ModelError:
        """Return the error for an answer of another kind than requested."""
        return ModelError(f"{self.client} must give {kind}s, got {short_repr(got)}")


Part = TypeVar("Part")
Result = TypeVar("Result")


def ask_in_parallel(
    ask: Callable[[Part], Result], parts: Sequence[Part], at_a_time: int
) -> Iterator[tuple[int, Result]]:
    """Yield the index and result of each part as it arrives, ``at_a_time`` in parallel.

    A part is pending until the caller has taken its result and requests the next one, so that a
    killed program loses at most ``at_a_time`` results. After a failure no further part is started;
    pending parts are still yielded, then the error is raised.
    """
    if min(len(parts), at_a_time) == 1:
        yield from ((index, ask(part)) for index, part in enumerate(parts))
        return
    waiting = iter(enumerate(parts))
    tasks: Queue[tuple[int, Part] | None] = Queue()
    results: Queue[tuple[int, Result] | BaseException] = Queue()
    active = min(at_a_time, len(parts))
    for first_task in islice(waiting, active):
        tasks.put(first_task)
    # daemons: threads that wait for answers must not keep an interrupted program alive
    workers = [Thread(target=_work, args=(ask, tasks, results), daemon=True) for _ in range(active)]
    for worker in workers:
        worker.start()
    failure: BaseException | None = None
    try:
        while active:
            result = results.get()
            if isinstance(result, BaseException):
                failure = failure or result
            else:
                yield result
            task = None if failure else next(waiting, None)
            if task is None:
                active -= 1
            else:
                tasks.put(task)
    finally:
        for _ in workers:
            tasks.put(None)
    if failure is not None:
        raise failure


def _work(
    ask: Callable[[Part], Result], tasks: Queue[tuple[int, Part] | None],
    results: Queue[tuple[int, Result] | BaseException],
) -> None:  # fmt: skip
    """Process parts from a queue until it holds None."""
    while (task := tasks.get()) is not None:
        try:
            results.put((task[0], ask(task[1])))
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            results.put(error)


PROTOCOLS = ("mlflow", "open-inference")
CHAT = "/chat/completions"
MODEL = re.compile(r"(?P<base>.*)/v2/models/(?P<name>[^/]+)(?P<version>/versions/[^/]+)?(/infer)?")


def connect(
    url: str, *, protocol: str | None = None, model: str | None = None,
    features: Sequence[str] | None = None, classes: Sequence[Value] | None = None,
    outputs: Mapping[str, str] | None = None, token_variable: str | None = None,
    batch_size: int = Limits.batch_size, at_a_time: int = Limits.at_a_time,
    timeout: float = Limits.timeout, retries: int = Limits.retries,
    max_answer: int = Limits.max_answer,
) -> Endpoint:  # fmt: skip
    """Connect to a model behind an address.

    Parameters
    ----------
    url
        Address of a server, of MLflow's ``/invocations``, or of a model under ``/v2/models/``,
        without user name, password or key.
    protocol
        "mlflow" or "open-inference"; default: detected from the address or by a request.
    model
        Name of the model on an Open Inference server, if it is not in the address.
    features
        Columns the model receives, in order; default: those the server declares, or all that the
        audit provides.
    classes
        Class labels in the order of scores; default: the sorted labels of the audit data.
    outputs
        Names of an Open Inference model's outputs, such as ``{"score": "probabilities"}``, if their
        types do not identify them.
    token_variable
        Environment variable with a bearer token, which is sent over https or to this machine only;
        default: FAIRTRANSPORT_TOKEN, if set.
    batch_size
        Number of points per request.
    at_a_time
        Number of parallel requests.
    timeout
        Time-out of an answer in seconds.
    retries
        Number of retries after a time-out, a lost connection or a temporary error status. Waits
        double; a Retry-After is honoured up to two minutes.
    max_answer
        Maximum size of an answer in bytes.

    Returns
    -------
    BlackBox
        The ``model`` for `audit`, which queries it.

    Raises
    ------
    InputError
        If a setting is invalid, such as an address of unknown kind.

    Examples
    --------
    This address needs no request before the audit, which raises a `ModelError` on failure.

    >>> import fairtransport as ft
    >>> box = ft.access.connect("http://127.0.0.1:9/invocations", features=["sex"], timeout=5)
    >>> box.features
    ('sex',)
    >>> print(box.description)
    MLflow endpoint at http://127.0.0.1:9/invocations
    """
    address = as_address(url)
    limits = Limits(batch_size, at_a_time, timeout, retries, max_answer)
    client = Client(address, limits, as_token(token_variable, address))
    if address.path.endswith(CHAT):
        msg = f"{param('url')} must be of a model of tables; for a language model use `prompt`"
        raise InputError(msg)
    protocol_name = None if protocol is None else check_choice("protocol", protocol, PROTOCOLS)
    protocol_name = protocol_name or _recognise_protocol(client, model)
    columns = _columns(features)
    if protocol_name == "mlflow":
        path = address.path if address.path.endswith(PATH) else None
        target = address.at(path or address.path + PATH)
        return Invocations(Client(target, limits, client.token), columns, classes)
    box = _open_inference(client, model, dict(outputs or {}), classes)
    has_names = box.inputs and not box.takes_a_table
    own = tuple(str(tensor["name"]) for tensor in box.inputs) if has_names else None
    return replace(box, features=own if columns is None else columns)


def open_address(path: str, _: Permissions) -> Endpoint:
    """Return the model behind an address, for `load`."""
    return connect(path)


def _columns(features: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the column names that a user passes, checked."""
    if features is None:
        return None
    names = plain_items(features)
    if not names or not all(isinstance(item, str) for item in names):
        msg = f"{param('features')} must be a list of column names, got {short_repr(features)}"
        raise InputError(msg)
    return tuple(names)


def _recognise_protocol(client: Client, model: str | None) -> str:
    """Return the protocol of a server, by its address or its answers."""
    path = client.address.path
    if path.endswith(PATH):
        return "mlflow"
    if model is not None or MODEL.fullmatch(path):
        return "open-inference"
    if isinstance(client.get(f"{path}/v2"), dict):
        return "open-inference"
    if client.is_there(f"{path}/ping"):
        return "mlflow"
    msg = f"{client} must speak one of {', '.join(PROTOCOLS)}; name its {param('protocol')}"
    raise ModelError(msg)


def _open_inference(
    client: Client, model: str | None, outputs: dict[str, str], classes: Sequence[Value] | None
) -> OpenInference:
    """Return the box of an Open Inference model, with its server's metadata."""
    match = MODEL.fullmatch(client.address.path)
    if match is None and model is None:
        msg = f"{param('model')} must be given: what does {client} call the model?"
        raise InputError(msg)
    if match is None:
        path = f"{client.address.path}/v2/models/{model}"
    else:
        path = f"{match['base']}/v2/models/{match['name']}{match['version'] or ''}"
    metadata = client.get(path)
    if not isinstance(metadata, dict):
        msg = f"{client} must describe its model at {path!r}, got nothing"
        raise ModelError(msg)
    inputs, own_outputs = (_tensors(metadata.get(which)) for which in ("inputs", "outputs"))
    endpoint = Client(client.address.at(path), client.limits, client.token)
    served = f"{metadata.get('name')} {metadata.get('versions')}"
    return OpenInference(
        endpoint, None, classes, path=path, inputs=inputs, outputs=own_outputs, served=served,
        output_names=outputs,
    )  # fmt: skip


def _tensors(document: object) -> list[Tensor]:
    """Return the valid tensor descriptions in a server's metadata."""
    entries = document if isinstance(document, list) else []
    return [entry for entry in entries if _is_tensor(entry)]


def _is_tensor(entry: object) -> TypeGuard[Tensor]:
    """Return whether an entry describes a tensor."""
    return isinstance(entry, dict) and "name" in entry


PATH = "/invocations"


@dataclass(frozen=True, eq=False)
class Invocations(Endpoint):
    """A model that MLflow serves; it answers with the output of its ``predict``."""

    @property
    def protocol(self) -> str:
        """Name of the protocol."""
        return "MLflow"

    def ask(self, points: pd.DataFrame, kind: Answer) -> list[object]:
        """Return the answers to one batch."""
        columns = [plain_column(points, name) for name in points.columns]
        rows = [list(row) for row in zip(*columns, strict=True)]
        table = {"columns": list(points.columns), "data": rows}
        document = self.client.post(self.client.address.path, {"dataframe_split": table})
        predictions = document.get("predictions") if isinstance(document, dict) else None
        if not isinstance(predictions, list):
            raise self.wrong_answer(kind, document)
        answers = [_only_value(prediction) for prediction in predictions]
        if kind == "score" and _are_labels(answers):
            # integers would pass for the scores 0 and 1
            hint = "a label; models logged with pyfunc_predict_fn='predict_proba' give scores"
            msg = f"{self.client} must give scores, got {short_repr(answers[0], 20)}, {hint}"
            raise ModelError(msg)
        return answers


def _only_value(prediction: object) -> object:
    """Return the value of a prediction with a single name."""
    if isinstance(prediction, dict) and len(prediction) == 1:
        return next(iter(prediction.values()))
    return prediction


def _are_labels(answers: list[object]) -> bool:
    """Return whether no answer is a fraction or a row of fractions."""
    return all(not isinstance(answer, float | list) for answer in answers)


TYPES = {
    "BOOL": "?", "INT8": "i1", "INT16": "i2", "INT32": "i4", "INT64": "i8", "UINT8": "u1",
    "UINT16": "u2", "UINT32": "u4", "UINT64": "u8", "FP16": "f2", "FP32": "f4", "FP64": "f8",
    "BYTES": "O",
}  # fmt: skip
"""NumPy dtypes of tensor types."""
OF_VALUES = {str: "BYTES", bool: "BOOL", int: "INT64", float: "FP64"}
"""Tensor types of columns that a server does not declare."""
USUAL = {"score": "predict_proba"}
"""Output to request if a server does not list any."""


class Tensor(TypedDict, total=False):
    """A tensor of the protocol; in a server's metadata it has no data."""

    name: str
    datatype: str
    shape: list[int]
    parameters: dict[str, str]
    data: list[object]


@dataclass(frozen=True, eq=False)
class OpenInference(Endpoint):
    """A model that speaks the Open Inference Protocol v2."""

    path: str = ""
    inputs: Sequence[Tensor] = ()
    outputs: Sequence[Tensor] = ()
    served: str = ""
    output_names: Mapping[str, str] = field(default_factory=dict)

    @property
    def protocol(self) -> str:
        """Name of the protocol."""
        return "Open Inference v2"

    @property
    def identity(self) -> str:
        """Identity of the model, as far as the endpoint reveals it."""
        return f"{super().identity} {self.served} {sorted(self.output_names.items())}"

    def ask(self, points: pd.DataFrame, kind: Answer) -> list[object]:
        """Return the answers to one batch."""
        document: dict[str, object] = {"inputs": self._table(points) or self._columns(points)}
        if not self.inputs:
            document["parameters"] = {"content_type": "pd"}
        output = self._output_name(kind)
        if output is not None:
            document["outputs"] = [{"name": output}]
        response = self.client.post(f"{self.path}/infer", document)
        outputs = response.get("outputs") if isinstance(response, dict) else None
        if not isinstance(outputs, list) or not all(isinstance(tensor, dict) for tensor in outputs):
            raise self.wrong_answer(kind, response)
        return self._answers(
            _pick_output(outputs, output, kind, str(self.client)), len(points), kind
        )

    @property
    def takes_a_table(self) -> bool:
        """Whether all columns go into one tensor."""
        shapes = [tensor.get("shape") for tensor in self.inputs]
        shape = shapes[0] if len(shapes) == 1 else None
        return isinstance(shape, list) and len(shape) == 2 and shape[1] != 1  # noqa: PLR2004

    def _table(self, points: pd.DataFrame) -> list[Tensor]:
        """Return all columns as one tensor; empty if the model takes one per column."""
        if not self.takes_a_table:
            return []
        (tensor,) = self.inputs
        columns = [self._cast(points, name, str(tensor.get("datatype"))) for name in points.columns]
        data = [value for row in zip(*columns, strict=True) for value in row]
        shape = [len(points), len(columns)]
        return [{**_head(tensor["name"], str(tensor.get("datatype")), shape), "data": data}]

    def _columns(self, points: pd.DataFrame) -> list[Tensor]:
        """Return each column as a tensor, of the declared type or a guessed one.

        Some servers take (n,) tensors and some (n, 1): the declared shape decides, else (n, 1).
        """
        by_name = {str(tensor.get("name")): tensor for tensor in self.inputs}
        tensors: list[Tensor] = []
        for name in points.columns:
            tensor = by_name.get(name, {})
            kind = str(tensor.get("datatype") or _type_of(plain_column(points, name)))
            flat = len(tensor.get("shape", (-1, 1))) == 1
            shape = [len(points)] if flat else [len(points), 1]
            tensors.append({**_head(name, kind, shape), "data": self._cast(points, name, kind)})
        return tensors

    def _cast(self, points: pd.DataFrame, name: str, kind: str) -> list[object]:
        """Return a column's values in a tensor's type, missing ones as None."""
        if kind not in TYPES:
            msg = f"{self.client} must take tensors of {', '.join(TYPES)}, got {short_repr(kind)}"
            raise ModelError(msg)
        values = cast(plain_column(points, name), np.dtype(TYPES[kind]), str(self.client), name)
        return [None if _is_nan(value) else value for value in values.tolist()]

    def _output_name(self, kind: Answer) -> str | None:
        """Return the name of the output to request; None: the server chooses."""
        if kind in self.output_names:
            return self.output_names[kind]
        if not self.outputs:
            return USUAL.get(kind)
        candidates = [tensor for tensor in self.outputs if _holds(tensor, kind)] or list(
            self.outputs
        )
        likely = [tensor for tensor in candidates if "prob" in str(tensor.get("name")).lower()]
        return str(((likely if kind == "score" else []) or candidates)[0].get("name"))

    def _answers(self, output: Tensor, size: int, kind: Answer) -> list[object]:
        """Return an output's data as one answer per point."""
        data, shape = output.get("data"), output.get("shape")
        if kind == "score" and not str(output.get("datatype")).startswith(("FP", "BF")):
            raise self.wrong_answer(kind, data)
        try:
            array: NDArray[np.object_] = np.array(data, dtype=object).reshape(shape or -1)
        except (TypeError, ValueError):
            raise self.wrong_answer(kind, data) from None
        if array.ndim == 0 or len(array) != size or math.prod(array.shape[1:]) == 0:
            msg = f"{self.client} must give one answer per row ({size}), got shape {array.shape}"
            raise ModelError(msg)
        flat = array.reshape(size) if array.size == size else array
        return list(flat.tolist())


def _head(name: str, kind: str, shape: list[int]) -> Tensor:
    """Return a tensor without its data."""
    head: Tensor = {"name": name, "datatype": kind, "shape": shape}
    if kind == "BYTES":
        head["parameters"] = {"content_type": "str"}
    return head


def _type_of(values: Sequence[object]) -> str:
    """Return the tensor type of a column by its values."""
    kinds = {float if value is None else type(value) for value in values}
    for kind in (str, float, int, bool):
        if kind in kinds:
            return OF_VALUES[kind]
    return "FP64"


def _is_nan(value: object) -> bool:
    """Return whether a value is NaN."""
    return isinstance(value, float) and math.isnan(value)


def _holds(output: Tensor, kind: Answer) -> bool:
    """Return whether an output's type fits labels, scores or numbers."""
    has_fractions = str(output.get("datatype")).startswith(("FP", "BF"))
    return has_fractions if kind == "score" else not has_fractions or kind == "value"


def _pick_output(outputs: Sequence[Tensor], name: str | None, kind: Answer, who: str) -> Tensor:
    """Return the requested output, or the only one."""
    matches = [tensor for tensor in outputs if name in {None, tensor.get("name")}]
    if len(matches) != 1:
        names = ", ".join(str(tensor.get("name")) for tensor in outputs) or "none"
        msg = (
            f"{who} must give one output for {kind}s (name it in `outputs`), got "
            f"{short_repr(names)}"
        )
        raise ModelError(msg)
    return matches[0]
