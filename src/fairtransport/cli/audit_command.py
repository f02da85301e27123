"""The commands audit (of one model, or of a family in a settings file) and demo."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, cast

from cyclopts import Parameter

from fairtransport.cli import options
from fairtransport.cli.config_file import settings_file
from fairtransport.cli.entry_point import stdout_aside
from fairtransport.cli.errors import RAN, check_fail_on, family_exit_code
from fairtransport.cli.outputs import (
    Outputs,
    Target,
    check_report_ending,
    check_target,
    with_headlines,
    write_report,
)
from fairtransport.documents.verdicts import FailOn, exit_code
from fairtransport.errors import InputError, param
from fairtransport.report.console import name_flags
from fairtransport.settings import OUTPUT, QUERIES, SETTINGS, AuditSettings, checked

if TYPE_CHECKING:
    from fairtransport.audits import AuditResult
    from fairtransport.audits.from_text import AuditRequest
    from fairtransport.cli.config_file import Table


FLAGS, MODEL_FLAGS, OUTPUTS, RUN_FLAGS = (
    options.AuditFlags(),
    options.ModelFlags(),
    Outputs(),
    options.RunFlags(),
)


@options.unwrap_help
def audit(
    data: Annotated[Path, Parameter(help=SETTINGS["X"].flag_help)],
    *,
    flags: options.AuditFlags = FLAGS,
    fail_on: Annotated[FailOn | None, options.fail_on_flag(options.FAIL_ON)] = None,
    verbose: Annotated[options.Switch, Parameter(group=options.GROUPS[OUTPUT])] = False,
    model_flags: options.ModelFlags = MODEL_FLAGS,
    outputs: Outputs = OUTPUTS,
    run_flags: options.RunFlags = RUN_FLAGS,
) -> int:
    r"""Audit a model, or a file of decisions.

    With a model and true labels: count the people whose correct decision would become wrong with
    another race or sex. Here the limit is 2 % of all people:

    fairtransport audit people.csv --model model.skops --label outcome \
    --sensitive race,sex --delta 0.02 --report report.html

    With a file of decisions alone: do people with equal income and history get different decisions?
    This can show that decisions are over the limit, never that they are within it:

    fairtransport audit loans.csv --prediction decision --favourable granted \
    --sensitive sex --features income_band,history --delta 0.02

    Most audits need only the flags of these examples. To run several audits at once, list them as
    tables [[audits]] of a --config file: with 95 % confidence all their verdicts together are
    right, if people were drawn independently (otherwise give --clusters).

    Parameters
    ----------
    verbose
        Also print the statistic, its bounds and who is swapped with whom.
    """
    if settings_file().family:
        if verbose:
            msg = "`--verbose` must not be given for several audits; --report has each of them"
            raise InputError(msg)
        return _audit_family(data, flags, fail_on, outputs, run_flags)
    check_fail_on(fail_on, flags.delta)
    start = perf_counter()
    request = flags.request(data, model_flags.source(flags))
    outputs.check(data, flags.targets, flags.train, flags.model, run_flags.config, flags.query_log)
    with run_flags.progress(flags.price_per_1000):
        with stdout_aside():
            result = cast("AuditResult", request.run())
        if reference := request.document["reference"]:
            result.group_metrics(reference)  # rejects groups that do not occur
        # computed before any file is written, so that its errors come first
        code = exit_code(result.verdict, fail_on)
        seconds = perf_counter() - start
        paths = outputs.write(result, request.document, failed=code != RAN, seconds=seconds)
    if result.verdict is None:
        message = "There is no --delta, so no result can end with an error code."
        _print_missing_delta(message, fail_on, outputs)
    if run_flags.quiet and code != RAN:
        from fairtransport.report.console import print_failure
        from fairtransport.report.sections.decisions import failure_sentence

        print_failure(failure_sentence(name_flags(result.headline)))
    if not run_flags.quiet and not outputs.fills_stdout:
        from fairtransport.report.console import print_note, print_written
        from fairtransport.report.terminal import print_result

        title = f"{flags.data_name or data.name}, {result.n:,} people"
        print_result(name_flags(result.headline), title, verbose=verbose)
        print_written(paths)
        if outputs.shares_nothing:
            print_note(
                "`--share` is for files, and there is no --report or --json: what is printed here "
                "also has numbers about few people."
            )
    return code


def _print_missing_delta(message: str, fail_on: FailOn | None, outputs: Outputs) -> None:
    """Print, even if quiet, that a test or a failing verdict needs a limit."""
    if fail_on != "never" and (fail_on is not None or outputs.junit is not None):
        from fairtransport.report.console import print_note

        print_note(message, error=True)


NAME = "name"


def entry_keys() -> tuple[str, ...]:
    """Return the keys of a table [[audits]]."""
    from fairtransport.audits.family import OWN, WHERE

    return (
        NAME, WHERE, "allow-pickle", "trust", "similarity-settings", *options.ENDPOINT_KEYS,
        "train", *(QUERIES[f"queries.{name}"].flag for name in ("log", "repeats")),
        *(SETTINGS[name].flag for name in OWN if name in SETTINGS and name != "queries"),
    )  # fmt: skip


def _audit_family(
    data: Path,
    flags: options.Flags,
    fail_on: FailOn | None,
    outputs: Outputs,
    run_flags: options.RunFlags,
) -> int:
    """Audit the family of the settings file; return the exit code of the worst verdict."""
    from fairtransport.audits.family import naming_entry
    from fairtransport.audits.from_text import run_family

    _check_family(flags)
    outputs.check_family(flags)
    outputs.check_not_shared()
    seed, start = checked("rng", flags.seed), perf_counter()
    requests = {}
    for entry in settings_file().family:
        name = str(entry[NAME])
        with naming_entry(name):
            requests[name] = _read_entry(entry, data, seed, fail_on)
    inputs = [path for one in requests.values() for path in (one.values["targets"], one.train)]
    models = [one.first.model for one in requests.values()]
    outputs.check(data, *inputs, *models, run_flags.config)
    with run_flags.progress(flags.price_per_1000):
        with stdout_aside():
            family = run_family(requests)
        code = family_exit_code((one.verdict for one in family.members), fail_on)
        seconds = perf_counter() - start
        paths = outputs.write_family(family, fail_on=fail_on or "rejected", seconds=seconds)
    if names := [one.name for one in family.members if one.verdict is None]:
        missing = (
            f"There is no delta in {', '.join(names)}, so these cannot end with an error code."
        )
        _print_missing_delta(missing, fail_on, outputs)
    if run_flags.quiet and code != RAN:
        from fairtransport.report.console import print_failure
        from fairtransport.report.sections.family import family_failures

        print_failure(*family_failures(name_flags(with_headlines(family)), fail_on))
    if not run_flags.quiet and not outputs.fills_stdout:
        from fairtransport.report.console import print_written
        from fairtransport.report.terminal import print_family

        seeds = {name: result.seed for name, result in family.items()}
        print_family(name_flags(family.headline), f"{data.name}, {len(family)} audits", seeds)
        print_written(paths)
    return code


def _check_family(flags: options.Flags) -> None:
    """Reject flags of a single audit."""
    if flags.judge != AuditSettings.judge:
        msg = f"`--judge` must be {AuditSettings.judge!r} for several audits, got {flags.judge!r}"
        raise InputError(msg)
    if flags.proxies:
        msg = f"{param('proxies')} must not be given for several audits"
        raise InputError(msg)


def _read_entry(entry: Table, data: Path, seed: int, fail_on: FailOn | None) -> AuditRequest:
    """Return the request of a table [[audits]]; it may have its own seed."""
    from fairtransport.audits.family import WHERE, check_known

    own = {key.replace("_", "-"): value for key, value in entry.items()}
    check_known(own, entry_keys(), "an audit in a table [[audits]]")
    where = own.pop(WHERE, None)
    del own[NAME]
    arguments, names = settings_file().bind(own)
    flags: options.Flags = arguments.get("flags", FLAGS)
    model_flags: options.ModelFlags = arguments.get("model_flags", MODEL_FLAGS)
    check_fail_on(fail_on, flags.delta)
    rng = seed if flags.seed is None else flags.seed
    request = flags.request(data, model_flags.source(flags), rng=rng)
    return replace(request, where=where, settings_taken=names)


@options.unwrap_help
def demo(
    *, seed: options.Seed = 0, output: Target = Path("report.html"),
    verbose: options.Switch = False, quiet: options.Switch = False,
) -> int:  # fmt: skip
    """Audit a logistic regression on public data about arrests (COMPAS).

    It predicts who is arrested again. It is trained on 70 % of 5,278 people, and audited on the
    other 30 %. The data come with the package.

    Parameters
    ----------
    seed
        Seed of the random split.
    output
        Where the report goes: a file that ends in .html or .md.
    verbose
        Also print the statistic, its bounds and who is swapped with whom.
    quiet
        Print only errors.
    """
    from fairtransport.report.console import print_written
    from fairtransport.report.terminal import print_result
    from fairtransport.reproduce.compas import IN_WORDS, REFERENCE, audit_of_split

    check_report_ending("--output", output)
    check_target("--output", output)
    result = audit_of_split(seed, IN_WORDS)
    paths = [write_report("--output", output, result, reference=REFERENCE)]
    if not quiet:
        title = f"A logistic regression on COMPAS, {result.n:,} people"
        print_result(name_flags(result.headline), title, verbose=verbose)
        print_written(paths)
    return RAN
