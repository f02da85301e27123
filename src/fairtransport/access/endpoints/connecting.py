"""connect(): the model behind an address, its protocol recognised or named."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

from fairtransport.access.boxes import plain_items
from fairtransport.access.endpoints import invocations
from fairtransport.access.endpoints.address import as_address, as_token
from fairtransport.access.endpoints.client import Client, Limits
from fairtransport.access.endpoints.invocations import Invocations
from fairtransport.access.endpoints.open_inference import OpenInference
from fairtransport.checks import choice, shown
from fairtransport.errors import InputError, ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairtransport.access.endpoints.endpoint import Endpoint
    from fairtransport.access.endpoints.open_inference import Tensor
    from fairtransport.access.opening import Permissions
    from fairtransport.space.columns import Value

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
        The address: of a server, of MLflow's ``/invocations``, or of a model under
        ``/v2/models/``. It holds no user name, password or key.
    protocol
        "mlflow" or "open-inference"; default: recognised by the address or by asking.
    model
        What an Open Inference server calls the model, where the address does not say.
    features
        The columns the model takes, in its order; default: those the server names, or all that
        the audit gives.
    classes
        The labels in the order of the model's scores; default: those of the audit data, sorted.
    outputs
        The names of an Open Inference model's outputs, as in ``{"score": "probabilities"}``,
        where they are not to be guessed from their types.
    token_variable
        The environment variable that holds a token; default: FAIRTRANSPORT_TOKEN where it is
        set. The token is sent as a bearer token, over https or to this machine alone.
    batch_size
        How many points go into one request.
    at_a_time
        How many requests are under way at once.
    timeout
        Seconds to wait for an answer.
    retries
        How often a request is sent again after a time-out, a lost connection, or a status that
        says that it is worth while. Waits double; a Retry-After is honoured up to two minutes.
    max_answer
        How many bytes an answer may have.

    Returns
    -------
    BlackBox
        What `audit` takes as its ``model``; it is asked when the audit needs an answer.

    Raises
    ------
    InputError
        If a setting breaks its rule, such as an address of no known kind.

    Examples
    --------
    Nobody is asked before the audit; what goes wrong then is a `ModelError`.

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
        msg = "`url` must be that of a model of tables; for a language model use `prompt`"
        raise InputError(msg)
    named = None if protocol is None else choice("protocol", protocol, PROTOCOLS)
    spoken = named or _recognised(client, model)
    columns = _columns(features)
    if spoken == "mlflow":
        path = address.path if address.path.endswith(invocations.PATH) else None
        there = address.at(path or address.path + invocations.PATH)
        return Invocations(Client(there, limits, client.token), columns, classes)
    box = _open_inference(client, model, dict(outputs or {}), classes)
    named_inputs = box.inputs and not box.takes_a_table
    own = tuple(str(one["name"]) for one in box.inputs) if named_inputs else None
    return replace(box, features=own if columns is None else columns)


def open_address(path: str, _: Permissions) -> Endpoint:
    """Return the model behind an address that was typed where a file could stand.

    Parameters
    ----------
    path
        The address.
    _
        What files would be allowed; nothing is unpacked here.
    """
    return connect(path)


def _columns(features: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the columns that a user names, checked.

    Parameters
    ----------
    features
        Names, or None where the server is to be asked which it wants.

    Raises
    ------
    InputError
        If it is an empty list or holds something else than names.
    """
    if features is None:
        return None
    listed = plain_items(features)
    if not listed or not all(isinstance(name, str) for name in listed):
        msg = f"`features` must be a list of column names, got {shown(features)}"
        raise InputError(msg)
    return tuple(listed)


def _recognised(client: Client, model: str | None) -> str:
    """Return which protocol a server speaks, by its address or by what it answers.

    Parameters
    ----------
    client
        Asks it.
    model
        A model's name, which only Open Inference servers need.

    Raises
    ------
    ModelError
        If it speaks none that is known.
    """
    path = client.address.path
    if path.endswith(invocations.PATH):
        return "mlflow"
    if model is not None or MODEL.fullmatch(path):
        return "open-inference"
    if isinstance(client.get(f"{path}/v2"), dict):
        return "open-inference"
    if client.is_there(f"{path}/ping"):
        return "mlflow"
    msg = f"{client} must speak one of {', '.join(PROTOCOLS)}; name its `protocol`"
    raise ModelError(msg)


def _open_inference(
    client: Client, model: str | None, outputs: dict[str, str], classes: Sequence[Value] | None
) -> OpenInference:
    """Return the box of an Open Inference model, with what its server says of it.

    Parameters
    ----------
    client
        Asks the server.
    model
        What the server calls the model, where the address does not say.
    outputs
        Names of outputs by what is asked for.
    classes
        The labels in the order of scores.

    Raises
    ------
    InputError
        If the model has no name.
    ModelError
        If the server does not describe it.
    """
    found = MODEL.fullmatch(client.address.path)
    if found is None and model is None:
        msg = f"`model` must be given: what does {client} call the model?"
        raise InputError(msg)
    if found is None:
        path = f"{client.address.path}/v2/models/{model}"
    else:
        path = f"{found['base']}/v2/models/{found['name']}{found['version'] or ''}"
    told = client.get(path)
    if not isinstance(told, dict):
        msg = f"{client} must describe its model at {path!r}, got nothing"
        raise ModelError(msg)
    inputs, given = (_tensors(told.get(which)) for which in ("inputs", "outputs"))
    there = Client(client.address.at(path), client.limits, client.token)
    served = f"{told.get('name')} {told.get('versions')}"
    return OpenInference(
        there, None, classes, path=path, inputs=inputs, outputs=given, served=served,
        chosen=outputs,
    )  # fmt: skip


def _tensors(told: object) -> list[Tensor]:
    """Return what a server says of its tensors, as far as it can be used.

    Parameters
    ----------
    told
        Its words; what is no tensor is passed over.

    Examples
    --------
    >>> _tensors([{"name": "age"}, "sex"]), _tensors(None)
    ([{'name': 'age'}], [])
    """
    listed = told if isinstance(told, list) else []
    return [one for one in listed if _is_tensor(one)]


def _is_tensor(told: object) -> TypeGuard[Tensor]:
    """Say whether a server's words describe a tensor."""
    return isinstance(told, dict) and "name" in told
