"""A family of audits from a settings file: each table [[audits]] as a line of its own."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, cast

from fairtransport.audit.entries import OWN, naming_entry, refuse_unknown
from fairtransport.cli.configfile import Table, family_entries, reading, settings_taken
from fairtransport.cli.endpoint_flags import NAMES as ENDPOINT_FLAGS
from fairtransport.cli.exits import FailOn, check_fail_on, family_exit_code
from fairtransport.cli.flags import (
    Answers,
    Cases,
    Comparing,
    Questions,
    Running,
    asked_before,
    columns_of,
)
from fairtransport.cli.outputs import Outputs
from fairtransport.cli.stdout import stdout_aside
from fairtransport.cli.typed_line import LINE
from fairtransport.cli.wording import naming
from fairtransport.literals import literal
from fairtransport.settings import SETTINGS, AuditSettings, checked

if TYPE_CHECKING:
    from inspect import BoundArguments

    from fairtransport.audit import Audits

    Models: TypeAlias = dict[tuple[object, ...], object]

NAME, WHERE = "name", "where"
KEYS = (
    NAME, WHERE, "allow-pickle", "trust", "similarity-settings", *ENDPOINT_FLAGS,
    *(SETTINGS[name].flag or name for name in OWN if name in SETTINGS),
)  # fmt: skip
"""What a table [[audits]] may hold."""


class Asked(TypedDict):
    """The flags of the command that an audit of a family is asked by."""

    data: Path
    cases: Cases
    answers: Answers
    questions: Questions
    comparison: Comparing
    outputs: Outputs
    counts: str | None
    targets: Path | None
    train: Path | None
    delta: float | None
    alpha: float
    method: str
    resamples: int
    seed: int | None


@dataclass(frozen=True)
class FamilyLine:
    """One table of a family, read as a line with its settings.

    Attributes
    ----------
    name, where
        What the audit is called, and its slice of the cases.
    asked
        The command's flags.
    taken
        Which of them are from the settings file.
    """

    name: str
    where: object
    asked: Asked
    taken: tuple[str, ...]

    @classmethod
    def read(cls, entry: Table) -> FamilyLine:
        """Read the line once more, with a table's settings over those of [audit].

        Parameters
        ----------
        entry
            A table [[audits]].

        Raises
        ------
        InputError
            If a key is unknown, naming the audit.
        """
        from fairtransport.cli.app import app

        name = str(entry[NAME])
        with naming_entry(name):
            dashed = {key.replace("_", "-"): value for key, value in entry.items()}
            refuse_unknown(dashed, KEYS, "an audit in a table [[audits]]")
            where = dashed.pop(WHERE, None)
            del dashed[NAME]
            with reading(dashed):
                bound: BoundArguments
                _, bound, _ = app.parse_args(LINE.get(), exit_on_error=False, print_error=False)
        bound.apply_defaults()
        return cls(name, where, cast("Asked", bound.arguments), settings_taken()[1])

    def settings(self, seed: int) -> AuditSettings:
        """Return what the audit is asked, as far as that needs no model to be seen.

        Parameters
        ----------
        seed
            Of the family, where the table has none of its own.
        """
        asked = self.asked
        return asked_before(
            asked["data"], asked["cases"], asked["answers"], asked["comparison"],
            **report_options(asked["outputs"]), **asked["questions"].options(),
            counts=asked["counts"], targets=asked["targets"],
            delta=asked["delta"], alpha=asked["alpha"], method=asked["method"],
            n_resamples=asked["resamples"], rng=seed if asked["seed"] is None else asked["seed"],
        )  # fmt: skip

    def keywords(self, settings: AuditSettings, models: Models) -> dict[str, object]:
        """Return the audit as `audit_many` takes it; a model file is read once.

        Parameters
        ----------
        settings
            From `settings`.
        models
            Models read so far, by file and how they were read; added to.
        """
        asked = self.asked
        answers, cases, comparison = asked["answers"], asked["cases"], asked["comparison"]
        key = (answers.model, answers.allow_pickle, answers.trust, answers.reaching)
        if key not in models:
            models[key] = answers.options()["model"]
        columns = columns_of(asked["data"], cases, answers, [models[key]], settings.counts)
        known = {one.name: getattr(settings, one.name) for one in fields(settings)}
        given = {
            "y": cases.label, "train": asked["train"], "similarity": comparison.chosen(columns),
            **answers.given(), "model": models[key],
        }  # fmt: skip
        where = {} if self.where is None else {WHERE: self.where}
        return {name: value for name, value in (known | given).items() if name in OWN} | where


def audit_family(
    data: Path, counts: str | None, alpha: float, seed: int | None, fail_on: FailOn,
    outputs: Outputs, running: Running,
) -> int:  # fmt: skip
    """Audit the family of the settings file.

    Parameters
    ----------
    data, counts, alpha, seed, fail_on, outputs, running
        Flags of the command, which all audits of the family share.

    Returns
    -------
    int
        The exit code of the worst verdict.
    """
    entries, (file, taken) = family_entries(), settings_taken()
    outputs.refuse_sharing()
    lines = [FamilyLine.read(entry) for entry in entries]
    inputs = [file for line in lines for file in (line.asked["targets"], line.asked["train"])]
    models = [line.asked["answers"].model for line in lines]
    outputs.check(data, *inputs, *models, running.config)
    with naming(), running.hushed(file, taken):
        with stdout_aside():
            found = _audited(lines, data, counts, alpha, checked("rng", seed), fail_on)
        code = family_exit_code(found.verdicts.values(), fail_on)
        written = outputs.write_family(found.summary) if outputs.asks_for_files else []
    if not running.quiet and not outputs.fills_stdout:
        from fairtransport.report.screen import print_written
        from fairtransport.report.screen.families import print_family

        print_family(found.headline, f"{data.name}, {len(found)} audits")
        print_written(written)
    return code


def _audited(
    lines: list[FamilyLine], data: Path, counts: str | None, alpha: float, seed: int,
    fail_on: FailOn,
) -> Audits:  # fmt: skip
    """Return the audits; all lines are checked before the first model is read.

    Parameters
    ----------
    lines
        The family's tables, each read as a line.
    data, counts, alpha, seed, fail_on
        What all of them share.
    """
    from fairtransport.audit import audit_many

    settings = {}
    for line in lines:
        with naming_entry(line.name), naming(**line.asked["comparison"].settings_flags):
            check_fail_on(fail_on, line.asked["delta"])
            settings[line.name] = line.settings(seed)
    models: Models = {}
    audits = {}
    for line in lines:
        with naming_entry(line.name), naming(**line.asked["comparison"].settings_flags):
            audits[line.name] = line.keywords(settings[line.name], models)
    found = audit_many(data, audits=audits, alpha=alpha, counts=counts)
    taken = {line.name: line.taken for line in lines}
    told = {name: replace(result, settings_taken=taken[name]) for name, result in found.items()}
    return replace(found, results=told)


def report_options(outputs: Outputs) -> dict[str, Any]:
    """Return what an audit is told of its report, as far as it was given.

    Parameters
    ----------
    outputs
        The flags.
    """
    options = {
        "moves_limit": outputs.moves_limit,
        "title": outputs.title,
        "date": outputs.date,
        "data_name": outputs.data_name,
        "auditor": outputs.auditor,
        "favourable": literal(outputs.favourable),
        "privileged": {name: literal(value) for name, value in (outputs.privileged or {}).items()},
    }
    return {name: value for name, value in options.items() if value not in (None, {})}
