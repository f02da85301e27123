"""fairtransport compare: several models on one file of cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, cast

from cyclopts import Parameter

from fairtransport._core.validation import check_number
from fairtransport.cli import options
from fairtransport.cli.entry_point import stdout_aside
from fairtransport.cli.errors import RAN
from fairtransport.cli.outputs import Outputs, Target
from fairtransport.documents.verdicts import FailOn, exit_code
from fairtransport.errors import InputError, name_parameters, param
from fairtransport.report.console import name_flags
from fairtransport.settings import BASICS, COMMAND_LINE, DESIGN, OUTPUT, QUERIES, SETTINGS

if TYPE_CHECKING:
    from fairtransport.audits import Comparison
    from fairtransport.audits.from_text import ModelSource


@Parameter(name="*", group=options.GROUPS[BASICS])
@options.unwrap_help
@dataclass(frozen=True, kw_only=True)
class NamedModels:
    """Where the predictions of each model come from: --model, --prediction or --score, repeated.

    Parameters
    ----------
    model
        A name and a model file or URL, as in --model old=old.skops. The first is the one to
        compare with.
    prediction
        A name and the column of decisions or predictions, as in --prediction old=guess.
    score
        A name and the column of the positive label's probabilities, as in --score old=score.
    """

    model: options.Names = None
    prediction: options.Names = None
    score: options.Names = None

    def sources(self, model_flags: options.ModelFlags) -> tuple[ModelSource, ...]:
        """Return the sources of the models' answers."""
        pairs = {f"--{name}": value for name, value in vars(self).items() if value is not None}
        if len(pairs) != 1:
            got = " and ".join(f"`{flag}`" for flag in pairs) or "none"
            msg = f"exactly one of `--model`, `--prediction` and `--score` must be given, got {got}"
            raise InputError(msg)
        ((flag, texts),) = pairs.items()
        values = _by_name(flag, texts)
        if len(values) == 1:
            msg = f"{param(flag)} must name at least two models, got {next(iter(values))!r}"
            raise InputError(msg)
        kind = {"--model": "model", "--prediction": "y_pred", "--score": "y_score"}[flag]
        convert: Callable[[str], Any] = Path if kind == "model" else str
        return tuple(
            model_flags.build_source(name=name, **{kind: convert(value)})
            for name, value in values.items()
        )


def _by_name(flag: str, pairs: tuple[str, ...]) -> dict[str, str]:
    """Return the values behind the equals signs by name."""
    values: dict[str, str] = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign or not name or not value:
            msg = (
                f"{param(flag)} must be a name for the model, = and its value, as in {flag} old=…, "
                f"got {pair!r}"
            )
            raise InputError(msg)
        if name in values:
            msg = f"{param(flag)} must have different names, got {name!r} twice"
            raise InputError(msg)
        values[name] = value
    return values


if TYPE_CHECKING:
    CompareFlags: TypeAlias = options.Flags
else:
    CompareFlags = options.build_flags(
        "CompareFlags",
        options.pick(
            SETTINGS | QUERIES | COMMAND_LINE,
            *options.CASES, *options.COMPARED,
            "favourable", "together", "counts", *DESIGN, "targets", "alpha",
            "deterministic", "rng", "similarity_settings", "queries.log", "queries.repeats",
            "price_per_1000",
        ),
    )  # fmt: skip
FLAGS, MODELS, MODEL_FLAGS, RUN_FLAGS = (
    CompareFlags(),
    NamedModels(),
    options.ModelFlags(),
    options.RunFlags(),
)


@options.unwrap_help
def compare(
    data: Annotated[Path, Parameter(help=SETTINGS["X"].flag_help)],
    *,
    flags: CompareFlags = FLAGS,
    models: NamedModels = MODELS,
    model_flags: options.ModelFlags = MODEL_FLAGS,
    tolerance: Annotated[float, Parameter(group=options.GROUPS[BASICS])] = 0.0,
    fail_on: Annotated[FailOn, options.fail_on_flag(options.FAIL_ON_COMPARED)] = "rejected",
    report: Annotated[Target | None, Parameter(group=options.GROUPS[OUTPUT])] = None,
    json: Annotated[Target | None, Parameter(group=options.GROUPS[OUTPUT])] = None,
    run_flags: options.RunFlags = RUN_FLAGS,
) -> int:
    """Compare models on one file of people: which has less individual bias, and how sure that is.

    Parameters
    ----------
    tolerance
        How much more bias than the first model the last one may have: 0.01 is 1 % of all people.
    report
        A file for the report: .html or .md.
    json
        A file for the result as JSON; "-" prints it instead of the screen.
    """
    outputs = Outputs(report=report, json=json)
    # before a similarity's setting of the same name is checked
    check_number("--tolerance", tolerance, at_least=0)
    with name_parameters(models="--model"), run_flags.progress(flags.price_per_1000):
        sources = models.sources(model_flags)
        files = [one.model for one in sources]
        outputs.check(data, flags.targets, *files, run_flags.config, flags.query_log)
        with stdout_aside():
            request = replace(flags.request(data, *sources), tolerance=tolerance)
            result = cast("Comparison", request.run())
        summary = result.summary
        paths = outputs.write_document(summary)
    code = exit_code(_as_verdict(result), fail_on)
    if run_flags.quiet and code != RAN:
        from fairtransport.report.console import print_failure
        from fairtransport.report.sections.comparison import comparison_failure

        print_failure(comparison_failure(name_flags(summary)))
    if not run_flags.quiet and not outputs.fills_stdout:
        from fairtransport.report.console import print_written
        from fairtransport.report.terminal import print_comparison

        print_comparison(name_flags(summary), f"{data.name}, {summary.n} cases")
        print_written(paths)
    return code


def _as_verdict(comparison: Comparison) -> str:
    """Return the verdict on one model that has the exit code of a comparison."""
    if comparison.verdict == "worse":
        return "rejected"
    if comparison.applicability is not None:
        return "not-applicable"
    return "certified" if comparison.not_worse else "inconclusive"
