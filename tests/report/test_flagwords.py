"""Messages of the Python side, said in flags."""

import inspect

import pytest

import fairtransport as ft
from fairtransport.report.screen import in_flags
from fairtransport.report.screen.flagwords import FLAGS


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("`y_pred` must be one column", "`--prediction` must be one column"),
        ("`levels['race']` must hold all", "`--levels.race` must hold all"),
        ('`bins["it\'s"]` must rise', "`--bins.it's` must rise"),
        ("the model has no `predict`", "the model has no `predict`"),
        ("`y` must be given, got None", "`--label` must be given"),
        ("y and budget in plain words", "y and budget in plain words"),
        ("got 1; missing='level' makes", "got 1; --missing level makes"),
    ],
)
def test_parameters_become_flags(message, said):
    assert in_flags(message) == said


def test_a_command_can_add_its_own():
    assert in_flags("`path` and `y`", {"path": "--state"}) == "`--state` and `--label`"


def test_every_parameter_of_an_audit_has_a_flag_that_exists():
    from fairtransport.cli.app import app

    known = {name for one in app["audit"].assemble_argument_collection() for name in one.names}
    for name in inspect.signature(ft.audit).parameters:
        assert name in FLAGS
        assert FLAGS[name] == "DATA" or FLAGS[name] in known
