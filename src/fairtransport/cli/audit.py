"""fairtransport audit: the audit of a file of cases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from fairtransport.cli.aside import stdout_aside
from fairtransport.cli.configfile import settings_taken
from fairtransport.cli.exits import FailOn, check_fail_on, exit_code
from fairtransport.cli.flags import Answers, Cases, Comparison, MethodName, Running
from fairtransport.cli.naming import naming
from fairtransport.cli.outputs import Outputs
from fairtransport.cli.values import Seed, Whole, literal

# shared flags without any given
CASES, ANSWERS, COMPARISON, OUTPUTS, RUNNING = (
    Cases(), Answers(), Comparison(), Outputs(), Running(),
)  # fmt: skip


def audit(
    data: Path,
    *,
    cases: Cases = CASES,
    counts: str | None = None,
    targets: Path | None = None,
    train: Path | None = None,
    answers: Answers = ANSWERS,
    comparison: Comparison = COMPARISON,
    delta: float | None = None,
    alpha: float = 0.05,
    method: MethodName = "finite-sample",
    resamples: Whole = 2000,
    seed: Seed | None = None,
    fail_on: FailOn = "rejected",
    outputs: Outputs = OUTPUTS,
    running: Running = RUNNING,
) -> int:
    """Audit a model, or the predictions in a file.

    Exit codes: 0 nothing to fail on, 1 the audit could not be done, 2 wrong usage, 3 δ-fairness
    rejected, 4 not certified (with --fail-on not-certified).

    Parameters
    ----------
    data
        A CSV, Parquet or JSON-lines file, one case a row.
    counts
        A column of whole numbers: how many cases a row stands for.
    targets
        A file of people with whom the cases are compared, instead of with each other; chosen
        without the cases, or nothing is certified.
    train
        A file with the model's training data: a note then says how many cases could be in it.
    delta
        How much worse the model may do; there is a verdict only with it.
    alpha
        The level of bounds and tests.
    method
        How bounds are made; those of finite-sample hold at every sample size.
    resamples
        The number of draws of the resampling methods.
    seed
        The seed of everything random; default: drawn and printed.
    fail_on
        When to exit with 3 or 4.
    """
    from fairtransport.audit import audit as run
    from fairtransport.cli.before import check_before, columns_of
    from fairtransport.inference.methods import check_level
    from fairtransport.inference.paper.resampling import check_resamples_wanted
    from fairtransport.report.screen import print_result

    check_fail_on(fail_on, delta)
    outputs.check(data, targets, train, answers.model, running.config)
    with naming(**comparison.settings_flags), running.hushed():
        with stdout_aside():
            check_before(data, cases, answers, comparison, delta=delta, alpha=alpha, below=0.5)
            check_level(method, alpha, check_resamples_wanted(resamples))
            asked = answers.options()
            columns = columns_of(data, cases, answers, asked["model"], counts)
            result = run(
                data,
                cases.label,
                **cases.options(),
                **asked,
                **comparison.options(columns),
                **group_options(outputs),
                counts=counts,
                targets=targets,
                train=train,
                delta=delta,
                alpha=alpha,
                method=method,
                n_resamples=resamples,
                rng=seed,
            )
        result = replace(result, settings_taken=settings_taken()[1])
        # what is written waits for the verdict, so that its errors come before any file
        code = exit_code(result.verdict, fail_on)
        written = outputs.write(result)
    if not running.quiet and not outputs.fills_stdout:
        from fairtransport.audit.summarise import summarise_headline
        from fairtransport.report.screen import print_note, print_written

        print_result(summarise_headline(result), f"{data.name}, {result.n} cases")
        print_written(written)
        if outputs.shares_nothing:
            print_note(
                "`--share` is for files, and none was asked for: what is printed here shows cells "
                "with few people too."
            )
    return code


def group_options(outputs: Outputs) -> dict[str, Any]:
    """Return what group metrics need, as far as it was given."""
    options = {
        "favourable": literal(outputs.favourable),
        "privileged": {name: literal(value) for name, value in (outputs.privileged or {}).items()},
    }
    return {name: value for name, value in options.items() if value not in (None, {})}
