"""fairtransport compare: several models on one file of cases."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from fairtransport.checks import number
from fairtransport.cli.argument_types import Names, Seed, Switch, Whole, told
from fairtransport.cli.configfile import settings_taken
from fairtransport.cli.endpoint_flags import REACHING, Reaching
from fairtransport.cli.exits import FailOn, exit_code
from fairtransport.cli.flags import (
    Answers,
    Cases,
    Comparing,
    Keeping,
    Running,
    asked_before,
    columns_of,
)
from fairtransport.cli.outputs import Outputs
from fairtransport.cli.stdout import stdout_aside
from fairtransport.cli.wording import naming
from fairtransport.errors import InputError
from fairtransport.settings import AuditSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairtransport.audit import Comparison


@Parameter(name="*", group=Group("Models", sort_key=2))
@dataclass(frozen=True, kw_only=True)
class NamedAnswers:
    """Where the predictions of each model come from: --model, --prediction or --score, repeated.

    Parameters
    ----------
    model
        A name and a model file or address, as in --model old=old.skops; the one to compare with
        first.
    allow_pickle
        Read pickles (.pkl, .pickle, .joblib), which run whatever code their author put in.
    trust
        Types beyond scikit-learn's own that a skops file may hold, by their full names.
    prediction
        A name and the column of predicted labels or numbers, as in --prediction old=guess.
    score
        A name and the column of the positive label's scores, as in --score old=score.
    """

    model: Names = None
    allow_pickle: Switch = False
    trust: Names = None
    reaching: Reaching = REACHING
    prediction: Names = None
    score: Names = None

    @property
    def given(self) -> dict[str, tuple[str, ...]]:
        """The flags that were given, by the argument that they are for."""
        flags = {"models": self.model, "y_pred": self.prediction, "y_score": self.score}
        return {name: value for name, value in flags.items() if value is not None}

    def named(self) -> dict[str, dict[str, str]]:
        """Return what each argument maps names to."""
        return {name: _by_name(FLAGS[name], pairs) for name, pairs in self.given.items()}

    def files(self) -> list[Path]:
        """Return the model files."""
        return [Path(path) for path in _by_name("--model", self.model or ()).values()]

    def options(self) -> dict[str, Mapping[str, object]]:
        """Return them as `compare` takes them; the models are read."""
        named = self.named()
        found: dict[str, Mapping[str, object]] = {**named}
        if "models" in named:
            found["models"] = {
                name: self._one(Path(path)).options()["model"]
                for name, path in named["models"].items()
            }
        return found

    def first(self) -> Answers:
        """Return one of them, which stands for all where only their kind matters."""
        named = self.named()
        (kind,) = named if len(named) == 1 else (None,)
        if kind is None:
            got = " and ".join(f"`{FLAGS[name]}`" for name in named) or "none"
            msg = f"exactly one of `--model`, `--prediction` and `--score` must be given, got {got}"
            raise InputError(msg)
        value = next(iter(named[kind].values()))
        if kind == "models":
            return self._one(Path(value))
        return Answers(prediction=value) if kind == "y_pred" else Answers(score=(value,))

    def _one(self, path: Path) -> Answers:
        """Return the flags of one model as those of an audit."""
        return Answers(
            model=path, allow_pickle=self.allow_pickle, trust=self.trust, reaching=self.reaching
        )


FLAGS = {"models": "--model", "y_pred": "--prediction", "y_score": "--score"}
CASES, ANSWERS, COMPARING, RUNNING = Cases(), NamedAnswers(), Comparing(), Running()
KEEPING = Keeping()


def _by_name(flag: str, pairs: tuple[str, ...]) -> dict[str, str]:
    """Return names with what follows them after a sign of equality.

    Parameters
    ----------
    flag
        Its name, for messages.
    pairs
        As in "old=old.skops"; a value may hold further signs of equality.

    Raises
    ------
    InputError
        If a pair is none, or a name occurs twice.

    Examples
    --------
    >>> _by_name("--model", ("old=a.skops", "new=b.skops"))
    {'old': 'a.skops', 'new': 'b.skops'}
    """
    found: dict[str, str] = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign or not name or not value:
            msg = f"`{flag}` must be a name, = and a value, as in {flag} old=…, got {pair!r}"
            raise InputError(msg)
        if name in found:
            msg = f"`{flag}` must have different names, got {name!r} twice"
            raise InputError(msg)
        found[name] = value
    return found


def compare(
    data: Annotated[Path, told("X")],
    *,
    cases: Cases = CASES,
    counts: Annotated[str | None, told("counts")] = None,
    targets: Annotated[Path | None, told("targets")] = None,
    answers: NamedAnswers = ANSWERS,
    keeping: Keeping = KEEPING,
    repeats: Annotated[Whole | None, told("repeats")] = None,
    comparison: Comparing = COMPARING,
    tolerance: float = 0.0,
    alpha: Annotated[float, told("alpha")] = AuditSettings.alpha,
    seed: Annotated[Seed | None, told("rng")] = None,
    fail_on: FailOn = "rejected",
    report: Path | None = None,
    json: Annotated[Path | None, Parameter(allow_leading_hyphen=True)] = None,
    running: Running = RUNNING,
) -> int:
    """Compare models on one file of cases: which has less individual bias, and how sure that is.

    Exit codes: 0 nothing to fail on, 1 it could not be done, 2 wrong usage, 3 the last model is
    shown to have more bias than the first, by more than the tolerance, 4 that it has not is not
    certified (with --fail-on not-certified), 5 an audit of the two could find nothing.

    Parameters
    ----------
    tolerance
        How much more bias than the first model the last one may have.
    fail_on
        When to exit with 3 or 4.
    report
        A file for the report: .html or .md.
    json
        A file for the result as JSON; "-" prints it instead of the screen.
    """
    from fairtransport.audit import compare_with

    outputs = Outputs(report=report, json=json)
    # before a similarity's setting of the same name could be meant
    number("--tolerance", tolerance, at_least=0)
    with naming(models="--model", **comparison.settings_flags), running.hushed(), keeping.counted():
        outputs.check(data, targets, *answers.files(), running.config, keeping.query_log)
        with stdout_aside():
            settings = asked_before(
                data, cases, answers.first(), comparison, counts=counts, targets=targets,
                alpha=alpha, rng=seed, query_log=keeping.query_log, repeats=repeats,
            )  # fmt: skip
            asked = answers.options()
            columns = columns_of(
                data, cases, answers.first(), asked.get("models", {}).values(), counts
            )
            complete = replace(settings, similarity=comparison.chosen(columns))
            found = compare_with(complete, data, cases.label, **asked, tolerance=tolerance)
        found = replace(found, settings_taken=settings_taken()[1])
        summary = found.summary
        written = outputs.write_comparison(summary)
    if not running.quiet and not outputs.fills_stdout:
        from fairtransport.report.screen import print_written
        from fairtransport.report.screen.comparisons import print_comparison

        print_comparison(summary, f"{data.name}, {summary.n} cases")
        print_written(written)
    return exit_code(_as_verdict(found), fail_on)


def _as_verdict(found: Comparison) -> str:
    """Return the verdict on a single model whose exit code a comparison has.

    Parameters
    ----------
    found
        "worse" fails as a rejection does, and "not worse" is what a certificate is.
    """
    if found.verdict == "worse":
        return "rejected"
    if found.applicability is not None:
        return "not-applicable"
    return "certified" if found.not_worse else "inconclusive"
