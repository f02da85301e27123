"""Messages refer to parameters, which each surface names in its own way."""

import inspect
import pickle

import pandas as pd
import pytest

import fairtransport as ft
from fairtransport._core.notes import Count, Note, keep_private, spell_notes
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
        (f"as {option(entry('bins', 'age'), '25,45', '[25, 45]')}", "as bins={'age': [25, 45]}",
         "as --bins.age 25,45"),
    ],
)  # fmt: skip
def test_references_become_parameters_or_flags(message, in_python, in_flags):
    assert str(InputError(message)) == in_python
    assert render_message(message, flag_names()) == in_flags


def test_notes_name_parameters_as_a_surface_does():
    inner = Note("{count} of {name}", count=Count(7), name=param("features"))
    note = Note("Leave out {inner}: `{edges}`.", inner=inner,
                edges=option(entry("bins", "{age}"), "25,45", "[25, 45]"))  # fmt: skip
    fields = {"bins": "Ranges", "features": "Columns"}

    assert note == "Leave out 7 of `features`: `bins={'{age}': [25, 45]}`."
    assert note.spell(flag_names()) == "Leave out 7 of `--features`: `--bins.{age} 25,45`."
    assert note.spell(fields) == "Leave out 7 of `Columns`: `Ranges, {age}: 25,45`."
    # rounded, or sent to another process, it still can be spelled
    rounded = note.render(lambda value, form: "many" if isinstance(value, Count) else str(value))
    assert rounded.spell(fields) == "Leave out many of `Columns`: `Ranges, {age}: 25,45`."
    assert pickle.loads(pickle.dumps(note)).spell(fields) == note.spell(fields)  # noqa: S301
    assert keep_private(note).spell(fields) == note.spell(fields)


def test_a_document_names_parameters_as_a_surface_does():
    people = pd.DataFrame({"sex": ["f"] * 40, "said": [1, 0] * 20})
    result = ft.audit(people, y_pred="said", sensitive_features="sex", favourable=1)
    family = ft.audit_many(people, sensitive_features="sex", favourable=1,
                           audits={"a": {"y_pred": "said"}, "b": {"y_pred": "said"}})  # fmt: skip
    for document in (result.summary, family.summary.audits[0]):
        assert "`levels={'sex': ['f', 'OTHER']}`" in document.advice
        assert "`--levels.sex f,OTHER`" in spell_notes(document, flag_names()).advice
    in_flags = spell_notes(family.summary, flag_names())
    assert "`--levels.sex f,OTHER`" in in_flags.audits[0].advice
    # the document itself is the same wherever it was made
    assert "--levels" not in result.summary.to_json()


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


@pytest.mark.parametrize(("there", "hint"), [("loans.csv", "; did you mean 'loans.csv'?"),
                                             ("sets.toml", ""), ("lost.csv", "")])  # fmt: skip
def test_an_absent_file_names_one_that_is_called_nearly_so(there, hint, tmp_path):
    (tmp_path / there).touch()
    with pytest.raises(ft.errors.InputError, match="there is no file") as raised:
        ft.audit(str(tmp_path / "loan.csv"), "y", sensitive_features="sex", model=len)
    assert str(raised.value).endswith(f"loan.csv' for `X`{hint}")
