"""Messages refer to parameters, which each surface names in its own way."""

import inspect
import pickle

import pytest

import fairtransport as ft
from fairtransport.errors import InputError, entry, option, param, render_message
from fairtransport.report.console import flag_names


@pytest.mark.parametrize(
    ("message", "in_python", "in_flags"),
    [
        (f"{param('y_pred')} must be one column", "`y_pred` must be one column",
         "`--prediction` must be one column"),
        (f"{param('levels', 'race')} must hold all", "`levels['race']` must hold all",
         "`--levels.race` must hold all"),
        (f"{param(entry('bins', 'a`b'))} must rise", "`bins['a`b']` must rise",
         "`--bins.a`b` must rise"),
        ("the model has no `predict`, `y` in quotes", "the model has no `predict`, `y` in quotes",
         "the model has no `predict`, `y` in quotes"),
        (f"got 1; {option('missing', 'level')} makes", "got 1; missing='level' makes",
         "got 1; --missing level makes"),
        (f"{param('state')} has no flag", "`state` has no flag", "`state` has no flag"),
    ],
)  # fmt: skip
def test_references_become_parameters_or_flags(message, in_python, in_flags):
    assert str(InputError(message)) == in_python
    assert render_message(message, flag_names()) == in_flags


def test_an_error_knows_its_parameter():
    with pytest.raises(ft.InputError) as caught:
        ft.AuditProblem([0.0], [[0.0]], budget=-1)
    assert caught.value.parameter == "budget"
    assert InputError(f"{param('bins', 'age')} must rise").parameter == "bins"
    assert InputError(f"{option('missing', 'level')} helps").parameter == "missing"
    assert InputError("nothing is named").parameter is None


def test_errors_survive_pickling():
    error = InputError(f"{param('path')} must be a file")
    error.flags = {"path": "--model"}
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301

    assert str(copy) == "`--model` must be a file"
    assert copy.parameter == "path"


def test_every_parameter_of_an_audit_has_a_flag_that_exists():
    from fairtransport.cli.entry_point import app
    from fairtransport.settings import PYTHON_ONLY, QUERIES

    known = {name for one in app["audit"].assemble_argument_collection() for name in one.names}
    parameters = [*inspect.signature(ft.audit).parameters, *QUERIES]
    for name in parameters:
        # each field of queries has a flag
        if name == "queries" or name in PYTHON_ONLY:
            continue
        assert name in flag_names()
        assert flag_names()[name] == "DATA" or flag_names()[name] in known
