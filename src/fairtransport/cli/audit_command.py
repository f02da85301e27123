"""fairtransport audit: the audit of a file of cases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from fairtransport.cli.argument_types import JudgeName, MethodName, Seed, Whole, told
from fairtransport.cli.configfile import family_entries, settings_taken
from fairtransport.cli.exits import RAN, FailOn, check_fail_on, exit_code
from fairtransport.cli.family_lines import audit_family, report_options
from fairtransport.cli.flags import (
    Answers,
    Cases,
    Comparing,
    Questions,
    Running,
    WorkLimits,
    asked_before,
    audit_file,
)
from fairtransport.cli.outputs import Outputs
from fairtransport.cli.stdout import stdout_aside
from fairtransport.cli.wording import naming
from fairtransport.errors import InputError
from fairtransport.settings import AuditSettings

# shared flags without any given
CASES, ANSWERS, QUESTIONS, COMPARISON, OUTPUTS, LIMITS, RUNNING = (
    Cases(), Answers(), Questions(), Comparing(), Outputs(), WorkLimits(), Running(),
)  # fmt: skip


def audit(
    data: Annotated[Path, told("X")],
    *,
    cases: Cases = CASES,
    counts: Annotated[str | None, told("counts")] = None,
    targets: Annotated[Path | None, told("targets")] = None,
    train: Annotated[Path | None, told("train")] = None,
    answers: Answers = ANSWERS,
    questions: Questions = QUESTIONS,
    comparison: Comparing = COMPARISON,
    delta: Annotated[float | None, told("delta")] = None,
    alpha: Annotated[float, told("alpha")] = AuditSettings.alpha,
    judge: Annotated[JudgeName, told("judge")] = AuditSettings.judge,
    method: Annotated[MethodName, told("method")] = AuditSettings.method,
    resamples: Annotated[Whole, told("n_resamples")] = AuditSettings.n_resamples,
    seed: Annotated[Seed | None, told("rng")] = None,
    fail_on: FailOn = "rejected",
    outputs: Outputs = OUTPUTS,
    limits: WorkLimits = LIMITS,
    running: Running = RUNNING,
) -> int:
    """Audit a model, or the predictions in a file.

    A settings file with tables [[audits]] makes it a family of audits: one counting, one table,
    verdicts that hold together.

    Exit codes: 0 nothing to fail on, 1 the audit could not be done, 2 wrong usage, 3 δ-fairness
    rejected, 4 not certified (with --fail-on not-certified), 5 not applicable: the audit could
    not find anything, or finds it by construction.

    Parameters
    ----------
    fail_on
        When to exit with 3, 4 or 5; never turns all of them off.
    """
    from fairtransport.report.screen import print_result

    if family_entries():
        if judge != AuditSettings.judge:
            msg = f"`--judge` must be {AuditSettings.judge!r} for several audits, got {judge!r}"
            raise InputError(msg)
        outputs.refuse_words_of_one()
        questions.refuse_for_families()
        limits.refuse_for_families()
        with questions.counted():
            return audit_family(data, counts, alpha, seed, fail_on, outputs, running)
    check_fail_on(fail_on, delta)
    log = questions.query_log
    outputs.check(data, targets, train, answers.model, running.config, log)
    with naming(**comparison.settings_flags), running.hushed(), questions.counted():
        with stdout_aside():
            settings = asked_before(
                data, cases, answers, comparison, **report_options(outputs), **questions.options(),
                **limits.options(), counts=counts, targets=targets, delta=delta, alpha=alpha,
                judge=judge, method=method, n_resamples=resamples, rng=seed,
            )  # fmt: skip
            result = audit_file(data, settings, cases, answers, comparison, train)
        result = replace(result, settings_taken=settings_taken()[1])
        # what is written waits for the verdict, so that its errors come before any file
        code = exit_code(result.judged, fail_on)
        written = outputs.write(result, failed=code != RAN)
    if not running.quiet and not outputs.fills_stdout:
        from fairtransport.report.screen import print_note, print_written

        print_result(result.headline, f"{outputs.data_name or data.name}, {result.n} cases")
        print_written(written)
        if outputs.shares_nothing:
            print_note(
                "`--share` is for files, and none was asked for: what is printed here shows cells "
                "with few people too."
            )
    return code
