"""Flags for a model behind an address."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from cyclopts import Group, Parameter

from fairtransport.cli.argument_types import Names, Whole
from fairtransport.errors import InputError
from fairtransport.literals import literal

if TYPE_CHECKING:
    from fairtransport.access.endpoints.endpoint import Endpoint

ProtocolName: TypeAlias = Literal["mlflow", "open-inference"]


@Parameter(name="*", group=Group("Endpoint", sort_key=2.5))
@dataclass(frozen=True, kw_only=True)
class Reaching:
    """How a model behind an address is asked.

    Parameters
    ----------
    prompt
        A TOML file with the prompt that a language model at the address answers.
    protocol
        What the endpoint speaks; default: recognised.
    served_model
        What the server calls the model.
    classes
        The labels in the order of the model's scores; default: those of the data, sorted.
    token_variable
        The environment variable that holds a token; default: FAIRTRANSPORT_TOKEN, if it is set.
    batch_size
        How many points go into one request; default: 100.
    at_a_time
        How many requests are under way at once; default: 4.
    timeout
        Seconds to wait for an answer; default: 60.
    retries
        How often a request that got lost or was put off is sent again; default: 5.
    """

    prompt: Path | None = None
    protocol: ProtocolName | None = None
    served_model: str | None = None
    classes: Names = None
    token_variable: str | None = None
    batch_size: Whole | None = None
    at_a_time: Whole | None = None
    timeout: float | None = None
    retries: Whole | None = None

    def check(self, model: Path | None) -> None:
        """Refuse flags that nothing is meant by.

        Parameters
        ----------
        model
            Of which these flags say how it is asked; a file is not asked at all.

        Raises
        ------
        InputError
            Naming the first such flag.
        """
        given = [name for name, value in vars(self).items() if value is not None]
        if given and (model is None or not is_address(model)):
            flag = f"--{given[0].replace('_', '-')}"
            got = "none" if model is None else repr(str(model))
            msg = f"`{flag}` needs an address as the `--model`, got {got}"
            raise InputError(msg)
        if self.prompt is not None:
            odd = [name for name in ("protocol", "classes", "batch_size", "served_model")
                   if name in given]  # fmt: skip
            if odd:
                flag = f"--{odd[0].replace('_', '-')}"
                msg = f"`{flag}` must not be given with `--prompt`, whose file says such things"
                raise InputError(msg)

    def opened(self, model: Path) -> Endpoint:
        """Return the model behind an address.

        Parameters
        ----------
        model
            The address, as a path.
        """
        from fairtransport.access import connect
        from fairtransport.access.prompts import read_prompt

        url = as_typed(model)
        options = {name: getattr(self, name)
                   for name in ("token_variable", "at_a_time", "timeout", "retries")}  # fmt: skip
        if self.prompt is not None:
            return read_prompt(self.prompt, url, **_given(options))
        options |= {"protocol": self.protocol, "model": self.served_model,
                    "batch_size": self.batch_size}  # fmt: skip
        classes = None if self.classes is None else [literal(one) for one in self.classes]
        return connect(url, **_given({**options, "classes": classes}))


NAMES = tuple(one.name.replace("_", "-") for one in fields(Reaching))
"""What these flags are called."""
REACHING = Reaching()
"""None of these flags."""
FLAGS = {
    "url": "--model", "model": "--served-model", "token_variable": "--token-variable",
    "batch_size": "--batch-size", "at_a_time": "--at-a-time", "classes": "--classes",
    "protocol": "--protocol", "timeout": "--timeout", "retries": "--retries",
    "max_answer": "max_answer",
}  # fmt: skip
"""What the line calls the parameters of `connect`."""


def is_address(path: Path) -> bool:
    """Say whether a model is behind an address.

    Parameters
    ----------
    path
        What was typed; a path object has folded two slashes into one.
    """
    return str(path).lower().startswith(("http:/", "https:/"))


def as_typed(path: Path) -> str:
    """Return an address as it was typed: a path object folds its two slashes into one.

    Parameters
    ----------
    path
        The address.

    Examples
    --------
    >>> as_typed(Path("http://host/v2"))
    'http://host/v2'
    """
    return str(path).replace(":/", "://", 1)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given: others keep their defaults."""
    return {name: value for name, value in options.items() if value is not None}
