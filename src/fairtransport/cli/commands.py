"""The commands monitor, sample-size, app, log, completion and reproduce."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, cast

from cyclopts import App, Parameter

from fairtransport._core.progress import silence
from fairtransport.cli import options
from fairtransport.cli.entry_point import stdout_aside
from fairtransport.cli.errors import RAN
from fairtransport.cli.outputs import check_target, real_path
from fairtransport.documents.verdicts import FailOn, exit_code
from fairtransport.errors import InputError, name_parameters, param
from fairtransport.settings import (
    BASICS,
    COMMAND_LINE,
    MONITOR,
    OUTPUT,
    QUERIES,
    SETTINGS,
    AuditSettings,
    checked,
)

if TYPE_CHECKING:
    from fairtransport.audits import AuditResult
    from fairtransport.inference.sample_plan import SamplePlan

if TYPE_CHECKING:
    MonitorFlags: TypeAlias = options.Flags
else:
    MonitorFlags = options.build_flags(
        "MonitorFlags",
        options.pick(
            MONITOR | QUERIES | COMMAND_LINE,
            *options.CASES, *options.ANSWERS, *options.COMPARED, "labels", "alpha", "favourable",
            "similarity_settings", "queries.log",
            "price_per_1000",
        ),
    )  # fmt: skip
MONITOR_FLAGS, MODEL_FLAGS, RUN_FLAGS = MonitorFlags(), options.ModelFlags(), options.RunFlags()


@options.unwrap_help
def monitor(
    data: Annotated[Path, Parameter(help=MONITOR["X"].flag_help)],
    *,
    state: Annotated[Path, Parameter(group=options.GROUPS[BASICS])],
    delta: Annotated[
        float, Parameter(help=MONITOR["delta"].flag_help, group=options.GROUPS[BASICS])
    ],
    flags: MonitorFlags = MONITOR_FLAGS,
    model_flags: options.ModelFlags = MODEL_FLAGS,
    fail_on: Annotated[FailOn, options.fail_on_flag(options.FAIL_ON)] = "rejected",
    plot: Annotated[Path | None, Parameter(group=options.GROUPS[OUTPUT])] = None,
    run_flags: options.RunFlags = RUN_FLAGS,
) -> int:
    """Process rows added to a file and report the evidence so far.

    Bounds and verdict are valid however often you run it and whenever you stop.

    Parameters
    ----------
    state
        File that stores the evidence between runs.
    plot
        A file for a chart of the evidence so far: .png or .svg.
    """
    from fairtransport.monitor.follow import describe_verdict, follow, print_evidence
    from fairtransport.monitor.growing_file import GrowingFile
    from fairtransport.report.charts import check_ending, save_chart
    from fairtransport.report.console import print_failure, print_written

    check_target("--state", state, {real_path(data)})
    if plot is not None:
        check_ending(plot)
        check_target("--plot", plot, {real_path(data), real_path(state)})
    with (
        name_parameters(path="--state", FILE="DATA"),
        run_flags.progress(flags.price_per_1000),
        stdout_aside(),
    ):
        GrowingFile(data)  # checks ending and existence
        request = flags.request(data, model_flags.source(flags), delta=delta)
        request.check_settings()
        models = request.read_models()
        keywords = request.resolve(models).keywords(models)
        evidence, waiting = follow(data, state, **keywords, **flags.values(["labels"]))
    paths = [] if plot is None else [save_chart(evidence.plot(), plot)]
    code = exit_code(evidence.state.verdict, fail_on)
    if run_flags.quiet and code != RAN:
        print_failure(describe_verdict(evidence))
    if not run_flags.quiet:
        print_evidence(evidence, data.name, waiting)
        print_written(paths)
    return code


if TYPE_CHECKING:
    PlanFlags: TypeAlias = options.Flags
    MethodName: TypeAlias = str
else:
    MethodName = Literal[tuple(SETTINGS["method"].choices)]
    PlanFlags = options.build_flags(
        "PlanFlags",
        options.pick(
            SETTINGS | COMMAND_LINE,
            *options.CASES, *options.ANSWERS, *options.COMPARED,
            "favourable", "together", "counts", "similarity_settings",
        ),
    )  # fmt: skip
PLAN_FLAGS = PlanFlags()


@options.unwrap_help
def sample_size(
    pilot: Path | None = None,
    *,
    value: float | None = None,
    delta: float,
    goal: Literal["reject", "certify"] = "reject",
    alpha: float = AuditSettings.alpha,
    power: float = 0.8,
    flags: PlanFlags = PLAN_FLAGS,
    targets: Path | None = None,
    model_flags: options.ModelFlags = MODEL_FLAGS,
    method: MethodName = AuditSettings.method,
    simulations: options.Whole = 200,
    resamples: options.Whole = 1000,
    seed: options.Seed = 0,
    plot: Path | None = None,
    run_flags: options.RunFlags = RUN_FLAGS,
) -> int:
    """Compute how many people an audit needs to show a model over the limit, or within it.

    Parameters
    ----------
    pilot
        A file with the people of a pilot, as for audit; or give --value.
    value
        Assumed true value of what the limit counts, a share of all people: 0.05 is 5 % (zero-one
        loss, no --budget).
    delta
        Your limit (δ); 0.02 is 2 % of all people.
    goal
        Result that the audit should reach: over the limit (reject) or within it (certify).
    alpha
        How often a verdict or a bound may be wrong (the significance level α). 0.05 is 95 %
        confidence.
    power
        Probability that the audit reaches it.
    targets
        File of other people to compare everybody with, as in the planned audit.
    method
        Method of the planned audit.
    simulations
        Number of simulated audits at each size.
    resamples
        Number of draws of the resampling methods in each simulated audit.
    seed
        The seed of the simulation.
    plot
        A file for the power curve: .png or .svg.
    """
    from fairtransport._core.validation import check_integer, check_number
    from fairtransport.inference import sample_size as plan_for
    from fairtransport.inference.sample_plan import MAX_SIMULATIONS
    from fairtransport.report.charts import check_ending

    with run_flags.progress(), name_parameters(pilot="PILOT"):
        if plot is not None:
            # before a simulation that may take minutes
            check_ending(plot)
            check_target("--plot", plot, set() if pilot is None else {real_path(pilot)})
        if (pilot is None) == (value is None):
            got = "neither" if pilot is None else "both"
            msg = f"{param('PILOT')} or {param('value')} must be given, and not both, got {got}"
            raise InputError(msg)
        goals: dict[str, Any] = {"delta": delta, "goal": goal, "alpha": alpha, "power": power}
        checked("alpha", alpha)
        notes = []
        if pilot is None:
            plan = plan_for(value=value, **goals)
        else:
            request = flags.request(
                pilot, model_flags.source(flags), targets=targets, delta=delta, alpha=alpha,
                n_resamples=resamples, method=method,
            )  # fmt: skip
            request.check_settings()
            check_number("power", power, above=0, below=1)
            check_integer("n_simulations", simulations, at_most=MAX_SIMULATIONS)
            # these are goals of the planned audit, not of the pilot's
            goal_names = ("delta", "alpha", "n_resamples")
            values = {name: one for name, one in request.values.items() if name not in goal_names}
            with stdout_aside():
                result = cast("AuditResult", replace(request, values=values).run())
            plan = plan_for(
                pilot=result, method=method, n_simulations=simulations, n_resamples=resamples,
                rng=seed, **goals,
            )  # fmt: skip
            notes = [_pilot_note(result)]
        _show_plan(plan, notes, plot, power, quiet=run_flags.quiet)
    return RAN


def _show_plan(
    plan: SamplePlan, notes: list[str], plot: Path | None, power: float, *, quiet: bool
) -> None:
    """Print a plan and draw its power curve, if requested."""
    from fairtransport.report.charts import power_chart, power_table, save_chart
    from fairtransport.report.console import print_written
    from fairtransport.report.terminal import print_plan

    if not quiet:
        print_plan(plan, notes)
    if plot is not None:
        path = save_chart(
            power_chart(power_table(plan), target_power=power, sample_size=plan.n), plot
        )
        if not quiet:
            print_written([path])


def _pilot_note(result: AuditResult) -> str:
    """Return that the pilot's value is an estimate itself."""
    return (
        f"The pilot's value {result.statistic:.4f} is itself an estimate, from {result.n:,} "
        "people: the plan is for people like the pilot's."
    )


@options.unwrap_help
def app(
    *, port: options.Whole = 0, no_open: options.Switch = False, quiet: options.Switch = False
) -> int:
    """Audit in the browser, without programming.

    Choose a file, describe its columns, start, read the report, look up single people. The page is
    served on this machine only. Uploads stay here and are deleted when the command ends (Ctrl-C).

    Parameters
    ----------
    port
        Port on this machine; 0 is a free one.
    no_open
        Do not open a browser; the URL is printed in any case.
    quiet
        Print only the URL and errors.
    """
    from fairtransport.app.server import serve
    from fairtransport.report.console import print_note

    def say(address: str) -> None:
        print(address, flush=True)  # noqa: T201 - as it is, to be clicked or read by a program
        if not quiet:
            print_note(
                "Only people with this URL can open the page; press Ctrl-C to end.", error=True
            )

    # an interruption is how the command ends
    with suppress(KeyboardInterrupt), name_parameters(port="--port"):
        serve(port, say, opens=not no_open)
    return RAN


@options.unwrap_help
def completion(shell: Literal["bash", "zsh", "fish"], /) -> int:
    """Print the completion script of a shell.

    Load it when the shell starts, as in: source <(fairtransport completion bash)

    Parameters
    ----------
    shell
        bash, zsh or fish.
    """
    from fairtransport.cli.entry_point import app

    sys.stdout.write(app.generate_completion(shell=shell))
    return RAN


log = App(name="log", help="Show or export the answers in a query log.")


@log.command
@options.unwrap_help
def show(file: Path) -> int:
    """List the models in a query log and the number of answers of each.

    Parameters
    ----------
    file
        The query log.
    """
    from fairtransport.access.query_log import contents
    from fairtransport.report.console import print_log

    print_log(contents(file), file.name)
    return RAN


@log.command
@options.unwrap_help
def export(file: Path, output: Path, *, identity: str | None = None) -> int:
    """Write the answers of a query log to a file that others can read.

    Parameters
    ----------
    file
        The query log.
    output
        A table (.csv), JSON lines (.jsonl), or another query log (.sqlite), from which an audit can
        be repeated without the model.
    identity
        Model whose answers to export, as `log show` prints it. Default: all.
    """
    from fairtransport.access.query_log import export as write
    from fairtransport.report.console import print_written

    with name_parameters(identity="--identity"):
        check_target("OUTPUT", output, {real_path(file)})
        print_written([write(file, output, identity)])
    return RAN


reproduce = App(name="reproduce", help="Remake the paper's figures and table.")


FIGURES = {
    1: "the sampling law beside its limit and beside the bootstrap",
    2: "the change in counts under the optimal plan, for both labels",
    3: "accuracy and FaiTH along the l1 path, and the chosen model",
    4: "the coefficients along the l1 path",
}


def _figure(number: int, shows: str) -> Callable[..., int]:
    """Return the command that writes a figure."""
    name = f"figure{number}"

    def write(
        *, output: Path = Path(), seed: options.Seed = 0, quiet: options.Switch = False
    ) -> int:
        from fairtransport.report.console import print_written
        from fairtransport.reproduce.figures import write_figure

        with silence() if quiet else nullcontext():
            paths = write_figure(output, number, seed)
        if not quiet:
            print_written(paths)
        return RAN

    write.__doc__ = f"""Write Figure {number}: {shows}.

    Parameters
    ----------
    output
        The folder for {name}.png, {name}.svg and {name}.csv.
    seed
        {"The seed of the simulation." if number == 1 else "Which random split to take."}
    quiet
        Print only errors.
    """
    return write


for _number, _shows in FIGURES.items():
    reproduce.command(_figure(_number, _shows), name=f"figure{_number}")


@reproduce.command
@options.unwrap_help
def table1(
    *,
    splits: options.Whole = 50,
    output: Path = Path(),
    jobs: options.Whole | None = None,
    seed: options.Seed = 0,
    cache: Path | None = None,
    quiet: options.Switch = False,
) -> int:
    """Remake Table 1: five methods audited over random splits, the paper's figures beside ours.

    Parameters
    ----------
    splits
        The number of splits; 5 give a quick look.
    output
        The folder for table1.md, table1.csv and table1.json.
    jobs
        How many processes work at the same time; default: one a processor.
    seed
        The first split's seed.
    cache
        The folder that keeps finished splits, so that a run can be taken up again; default:
        table1-cache in the output folder.
    quiet
        Print only errors.
    """
    from fairtransport.report.console import print_written
    from fairtransport.reproduce.table1 import print_table1, write_table1
    from fairtransport.reproduce.table1 import table1 as run

    with silence() if quiet else nullcontext():
        table = run(
            splits,
            seed=seed,
            cache=output / "table1-cache" if cache is None else cache,
            jobs=os.cpu_count() or 1 if jobs is None else jobs,
        )
    paths = write_table1(table, output)
    if not quiet:
        print_table1(table)
        print_written(paths)
    return RAN
