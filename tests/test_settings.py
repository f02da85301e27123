"""One table of settings: signatures, docstrings, flags and documents say what it says."""

import inspect
import json
import pickle
import re
import subprocess
import sys
from dataclasses import MISSING, fields, replace
from importlib import import_module

import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.audits import audit_with
from fairtransport.report.console import flag_names
from fairtransport.selection import DeltaFairSearch, faith_scorer
from fairtransport.settings import (
    COMMAND_LINE,
    DOCUMENT,
    LOSSES,
    METHODS,
    MONITOR,
    PYTHON_ONLY,
    QUERIES,
    SETTINGS,
    SIMILARITIES,
    AuditSettings,
    DocumentOptions,
)
from fairtransport.similarity import MixedTabular
from tests.messages import raises

ENTRIES = {
    "audit": (ft.audit, ft.audit, SETTINGS),
    "Monitor": (ft.Monitor.__init__, ft.Monitor, MONITOR),
    "DeltaFairSearch": (
        DeltaFairSearch.__init__,
        DeltaFairSearch,
        # a search cannot do without a threshold
        SETTINGS | {"delta": replace(SETTINGS["delta"], default=MISSING)},
    ),
    "faith_scorer": (faith_scorer, faith_scorer, SETTINGS),
    "compare": (ft.compare, ft.compare, SETTINGS),
}
"""Where a user types settings: the signature, the docstring, the table that holds there."""
COMMANDS = {
    "audit": SETTINGS | QUERIES | DOCUMENT | COMMAND_LINE,
    "monitor": MONITOR,
    # models are named there
    "compare": {
        name: setting for name, setting in SETTINGS.items()
        if name not in {"model", "y_pred", "y_score"}
    },
    # the rest is said of the audit that is planned, in the command's own words
    "sample-size": {
        name: setting for name, setting in SETTINGS.items()
        if name not in {"alpha", "delta", "method", "n_resamples", "rng", "targets"}
    },
}  # fmt: skip
PEOPLE = pd.DataFrame({
    "race": ["a", "b", "a", "b"] * 5, "age": [20, 20, 50, 50] * 5, "good": [1, 1, 0, 0] * 5,
    "guess": [1, 0, 0, 0] * 5, "score": [0.8, 0.4, 0.3, 0.1] * 5, "people": [1, 2, 1, 1] * 5,
})  # fmt: skip


@pytest.mark.parametrize("names", [LOSSES, METHODS, SIMILARITIES], ids=lambda one: one.registry)
def test_names_known_before_a_registry_is_loaded_are_those_in_it(names):
    registry = getattr(import_module(names.module), names.registry)

    assert names.ours == tuple(registry) == tuple(names)
    assert len(names) == len(registry)
    assert names.ours[0] in names
    assert "nothing" not in names


def documented(thing):
    """Return what a docstring says of each parameter, as one line of text."""
    text = inspect.getdoc(thing)
    section = re.search(r"Parameters\n-+\n(.*?)(\n\n[A-Z]\w+\n-+\n|\Z)", text, re.DOTALL)[1]
    found = {}
    for names, words in re.findall(r"^(\S.*)\n((?:    .*\n?|\n)+)", section + "\n", re.MULTILINE):
        for name in names.split(", "):
            found[name] = " ".join(words.split())
    return found


def flags_of(command):
    from fairtransport.cli.entry_point import app

    arguments = app[command].assemble_argument_collection(parse_docstring=True)
    return {one.name.lstrip("-"): one for one in arguments if one.name.startswith("--")}


@pytest.mark.parametrize("entry", ENTRIES)
def test_signatures_have_the_defaults_of_the_table(entry):
    signature, _, table = ENTRIES[entry]
    for name, parameter in inspect.signature(signature).parameters.items():
        if name in table:
            default = MISSING if parameter.default is inspect.Parameter.empty else parameter.default
            assert default == table[name].default, name


def test_an_audit_is_asked_what_the_table_holds_and_nothing_else():
    assert set(inspect.signature(ft.audit).parameters) == set(SETTINGS)


@pytest.mark.parametrize("entry", ENTRIES)
def test_docstrings_begin_with_the_sentences_of_the_table(entry):
    signature, thing, table = ENTRIES[entry]
    said = documented(thing)
    asked = set(inspect.signature(signature).parameters) & set(table)

    assert asked <= set(said)
    for name in asked:
        begins = said[name].startswith(table[name].help)
        assert begins or (thing is not ft.audit and said[name].startswith("As in `")), name


@pytest.mark.parametrize("command", COMMANDS)
def test_flags_say_and_default_to_what_the_table_says(command):
    flags, table = flags_of(command), COMMANDS[command]
    asked = {setting.flag: setting for setting in table.values()}
    shared = set(asked) & set(flags)

    assert len(shared) > 14
    for flag in shared:
        assert flags[flag].parameter.help == asked[flag].flag_help, flag
        if asked[flag].default not in (None, MISSING):
            assert flags[flag].field_info.default == asked[flag].default, flag


def test_a_plan_is_for_an_audit_with_the_same_defaults():
    flags = flags_of("sample-size")

    for name in ("alpha", "method"):
        assert flags[name].field_info.default == SETTINGS[name].default


FLAGGED = {
    name: setting
    for name, setting in (SETTINGS | QUERIES | DOCUMENT | COMMAND_LINE).items()
    # each field of queries has a flag
    if name not in {"queries", *PYTHON_ONLY}
}


@pytest.mark.parametrize("name", FLAGGED)
def test_errors_and_files_call_a_setting_by_its_flag(name):
    flag = FLAGGED[name].flag

    assert flag_names()[name] == ("DATA" if name == "X" else f"--{flag}")
    assert flag in flags_of("audit")


def test_choices_are_those_of_the_registries():
    from typing import get_args

    for setting in SETTINGS.values():
        if setting.choices is not None:
            flag = flags_of("audit")[setting.flag]
            names = [one for one in get_args(flag.hint) if one is not type(None)]
            if len(names) == 1:  # of a flag that may be left out
                names = get_args(names[0])
            assert tuple(names) == tuple(setting.choices)


TOY = """
import numpy as np
from fairtransport.losses import LOSSES, Loss
LOSSES["half"] = Loss("half", "label", lambda y, said: np.asarray(y != said) / 2, (0.0, 0.5))
from fairtransport.cli import main
code = main(["audit", "people.csv", "--label", "good", "--prediction", "guess",
             "--sensitive", "race", "--loss", "half", "--fail-on", "never", "--json", "-"])
raise SystemExit(code)
"""


@pytest.mark.slow
def test_a_loss_in_the_registry_is_a_choice_of_the_command_line(tmp_path):
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    done = subprocess.run(
        [sys.executable, "-c", TOY], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["provenance"]["loss"] == "half"


def test_the_document_records_what_was_asked(tmp_path):
    asked = {
        "sensitive_features": ["race"], "features": ["race", "age"], "counts": "people",
        "similarity": MixedTabular(default_scale=5), "loss": "absolute", "loss_range": (0.0, 1.0),
        "budget": 0.25, "delta": 0.125, "alpha": 0.1, "method": "limit-law", "n_resamples": 321,
        "rng": 77, "judge": "attributable",
    }  # fmt: skip
    head = {
        "title": "Loans", "date": "2026-03-31", "data_name": "loans, first quarter",
        "auditor": "A. Nybody",
    }  # fmt: skip
    result = ft.audit(PEOPLE, "good", y_pred="score", **asked)
    document = json.loads(result.to_json(tmp_path / "audit.json", **head).read_text("utf-8"))
    told = asked | head | {
        "y": "good", "pos_label": None, "loss_range": [0.0, 1.0],
        "model": document["provenance"]["model"],
        "similarity": result.similarity.describe(),
    }  # fmt: skip
    for name, setting in (SETTINGS | DOCUMENT).items():
        if setting.recorded is not None:
            found = document
            for key in setting.recorded.split("."):
                found = found[key]
            assert found == told[name], name


def test_the_object_and_the_keywords_ask_the_same():
    asked = {"sensitive_features": "race", "delta": 0.1, "rng": 5}
    by_keywords = ft.audit(PEOPLE, "good", y_pred="guess", **asked)
    by_object = audit_with(AuditSettings(**asked), PEOPLE, "good", y_pred="guess")

    assert by_object.summary == by_keywords.summary


def test_settings_keep_what_was_given_and_one_seed():
    drawn = AuditSettings(sensitive_features=["race"], loss="log")

    assert (drawn.loss, drawn.chosen_loss.name) == ("log", "log")
    assert drawn.chosen_loss is drawn.chosen_loss
    assert drawn.chosen_similarity is drawn.chosen_similarity
    assert replace(drawn, alpha=0.1).seed == drawn.seed
    assert pickle.loads(pickle.dumps(drawn)).seed == drawn.seed  # noqa: S301
    assert {one.name for one in fields(AuditSettings)} <= set(SETTINGS)


def test_a_result_keeps_what_was_asked_but_no_tables():
    result = ft.audit(
        PEOPLE[["age", "good", "guess"]], "good", y_pred="guess", targets=PEOPLE,
        sensitive_features=PEOPLE[["race"]], similarity=MixedTabular(default_scale=5), alpha=0.2,
    )  # fmt: skip

    assert (result.alpha, result.settings.alpha, result.settings.budget) == (0.2, 0.2, 0.0)
    assert result.settings.sensitive_features == result.space.sensitive == ("race",)
    assert result.settings.targets is None
    assert result.target_scope == "reference"
    assert result.at_budget(0.5).settings.budget == 0.5


WRONG = [
    ({"alpha": 0.5}, "`alpha` must be a number above 0 and below 0.5, got 0.5"),
    ({"budget": -1}, "`budget` must be a number of at least 0, got -1"),
    ({"loss": "pain"}, "`loss` must be one of 'zero-one'"),
    ({"similarity": "twins"}, "`similarity` must be one of 'ignore-sensitive'"),
]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"date": "1st of May"}, "`date` must be a date such as 2026-03-31, got '1st of May'"),
        ({"max_moves": 0}, "`max_moves` must be a whole number of at least 1, got 0"),
        ({"auditor": " "}, "`auditor` must be text, got ' '"),
    ],
)
def test_what_a_report_is_told_has_rules_too(wrong, message):
    with raises(ft.InputError, message):
        DocumentOptions(**wrong)


class Untouched:
    """A model and an estimator that nobody may fit or ask."""

    def get_params(self, **_):
        return {}

    def set_params(self, **_):
        return self

    def fit(self, *_):
        pytest.fail("it was fitted")

    def predict(self, *_):
        pytest.fail("it was asked")


@pytest.mark.parametrize(("wrong", "message"), WRONG)
@pytest.mark.parametrize("entry", [*ENTRIES, "command line"])
def test_one_rule_everywhere_before_a_model_is_fitted_or_read(
    entry, wrong, message, tmp_path, capsys
):
    who = {"sensitive_features": ["race"], **wrong}
    calls = {
        "audit": lambda: ft.audit(PEOPLE, "good", model=Untouched(), **who),
        "Monitor": lambda: ft.Monitor(
            y="good", model=Untouched(), delta=0.1, levels={"race": ["a", "b"]}, **who
        ),
        "DeltaFairSearch": lambda: DeltaFairSearch(Untouched(), {"C": [1]}, delta=0.1, **who).fit(
            PEOPLE, PEOPLE["good"]
        ),
        "faith_scorer": lambda: faith_scorer(**who),
    }
    if entry in calls:
        with raises(ft.InputError, message):
            calls[entry]()
        return
    from fairtransport.cli import main

    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "no.skops").write_text("no model")
    ((flag, value),) = wrong.items()
    line = ["audit", tmp_path / "people.csv", "--label", "good", "--sensitive", "race"]
    line += ["--model", tmp_path / "no.skops", f"--{flag}", value]
    assert main([str(one) for one in line]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert message.split(",")[0].replace(f"`{flag}`", f"`--{flag}`").split("'")[0] in said
