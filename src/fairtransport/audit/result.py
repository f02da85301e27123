"""AuditResult: what an audit found, and the ways to show it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtransport.audit.concluded import Concluded
from fairtransport.audit.dependence import Sensitivity, find_sensitivity
from fairtransport.audit.placebo import Placebo, find_placebo
from fairtransport.audit.proxies import asked_again, find_proxies
from fairtransport.audit.shared import shared_summary
from fairtransport.audit.summarise import method_limits, summarise, summarise_headline
from fairtransport.checks import choice, whole
from fairtransport.filesystem import write_bytes, write_text
from fairtransport.localise import flow_table
from fairtransport.localise.moves import moves_columns
from fairtransport.space.sample_space import plain_frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from altair.typing import ChartType
    from narwhals.typing import IntoDataFrame

    from fairtransport.localise.moves import Prediction
    from fairtransport.localise.telling import Proxies
    from fairtransport.settings import Rng
    from fairtransport.space.columns import Value
    from fairtransport.summary import AuditSummary

PLOTS = ("flows", "law", "budget", "methods")


@dataclass(frozen=True, eq=False)
class AuditResult(Concluded):
    """What an audit found: its core, with tables, charts and documents on top.

    Attributes
    ----------
    space, similarity, solution
        Who was audited, who is comparable, and the solution of the transport problem.
    model
        The model's name.
    target_scope
        With whom people were compared: "twins", people of a "reference" frame, or people who
        were "observed", in which case others may be missed.
    warnings
        What a reader of the numbers should know.

    Examples
    --------
    Women need a better grade than men for the same answer.

    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 200, "grade": [1, 1, 2, 2, 3, 3, 4, 4] * 50})
    >>> people["good"] = (people["grade"] > 2).astype(int)
    >>> def hires(asked):
    ...     return (asked["grade"] > 2 + (asked["sex"] == "f")).astype(int)
    >>> result = ft.audit(people, "good", model=hires, sensitive_features="sex", delta=0.05, rng=0)
    >>> result
    AuditResult(statistic=0.1250, n=400, points=8, budget=0, target_scope='twins')
    >>> print(result)
    δ-fairness rejected at level 5 %: with 95 % confidence the population's statistic is at least
    0.0986, more than δ = 0.0500; p < 0.0001.
    Errors would go from 12.5 % to 25 % at worst: if everybody were swapped with the similar person
    for whom the model does worst (a random similar person: 12.5 %).
    AuditResult(statistic=0.1250, n=400, points=8, budget=0, target_scope='twins')
    """

    @cached_property
    def methods(self) -> Any:
        """A table of several methods' bounds side by side, in the library of the audit data.

        Returns
        -------
        DataFrame

        Examples
        --------
        >>> result.methods.round(3)[["method", "lower_bound", "upper_bound"]]
                  method  lower_bound  upper_bound
        0  finite-sample        0.099        0.156
        1      limit-law        0.098        0.152
        2     m-out-of-n        0.093        0.149
        """
        rows = [vars(method_limits(law, self.alpha)) for law in self.compared_laws]
        return self.as_table({name: [row[name] for row in rows] for name in rows[0]})

    @cached_property
    def moves(self) -> Any:
        """A table of who is swapped with whom: all moves, those that add most first.

        Columns: the profile that people leave (``from_…``) and the one they are compared
        with (``to_…``), what changed, the label, how many people, prediction and loss before
        and after, the cost, and whether another target would have been as bad (``tied``).

        Returns
        -------
        DataFrame

        Examples
        --------
        >>> result.moves[["people", "from_grade", "changed", "prediction", "prediction_after"]]
           people  from_grade     changed  prediction  prediction_after
        0    50.0           3  sex: m → f           1                 0
        """
        return self.as_table(self._moves_columns())

    def _moves_columns(self) -> dict[str, Sequence[Prediction]]:
        """Return all moves as columns; kept by nobody, as they can be many."""
        return moves_columns(self.moved, self.space, self.answers.predictions, self.problem.losses)

    def write_moves(self, path: str | Path) -> Path:
        """Write all moves, as CSV or Parquet by the ending of the path.

        Scores have a column for each class. It is about people one by one: keep it as you keep
        the audit data.

        Parameters
        ----------
        path
            Where to; ends in .csv or .parquet.

        Returns
        -------
        Path
            Where the file is.

        Raises
        ------
        InputError
            If the path ends otherwise.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.write_moves(f"{folder}/moves.csv").read_text("utf-8").split(",")[:4]
        ['from_sex', 'from_grade', 'to_sex', 'to_grade']
        """
        from fairtransport.localise.moves_file import moves_bytes

        place = Path(path)
        classes = self.answers.classes
        return write_bytes(place, moves_bytes(place, self._moves_columns(), classes))

    def flows(self, feature: str) -> Any:
        """Return the change in counts by a feature against the sensitive groups.

        One row for each label, level of the feature and combination of the sensitive
        features: how many people there are, are moved out, are moved in, and the change, as
        in the paper's Figure 2. With targets that do not depend on the sample and no budget
        there are simultaneous limits of the change and Holm's p-values, else missing values.

        Parameters
        ----------
        feature
            A column of the profile.

        Returns
        -------
        DataFrame
            In the library of the audit data.

        Raises
        ------
        InputError
            If the audit has no such column.

        Examples
        --------
        >>> flows = result.flows("grade")
        >>> flows[flows["out"] > 0][["label", "level", "sex", "people", "out", "into", "change"]]
            label  level sex  people   out  into  change
        13      1      3   m    50.0  50.0   0.0   -50.0
        """
        choice("feature", feature, self.space.profile)
        table = flow_table(
            self.moved, self.space, feature, alpha=self.alpha, fixed=self.targets_are_fixed
        )
        cells = table.cells
        columns: dict[str, list[Value]] = {}
        if self.space.label is not None:
            columns["label"] = [cell.label for cell in cells]
        columns["level"] = [cell.level for cell in cells]
        for name in self.space.sensitive:
            columns[name] = [cell.group[name] for cell in cells]
        for name in ("people", "out", "into", "change", "lower", "upper", "pvalue"):
            columns[name] = [getattr(cell, name) for cell in cells]
        return self.as_table(columns)

    def to_html(self, path: str | Path, *, share: int | None = None) -> Path:
        """Write the report, one file that needs nothing else.

        Parameters
        ----------
        path
            Where to.
        share
            Leave out cells with fewer people than this, and the hash of the data, so that
            the report can be handed over without the audit data; None leaves out nothing.

        Returns
        -------
        Path
            Where the report is.

        Raises
        ------
        InputError
            If ``share`` is no whole number of at least 2.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     report = result.to_html(f"{folder}/report.html").read_text("utf-8")
        >>> "δ-fairness rejected at level 5" in report, "<script src" in report
        (True, False)
        """
        from fairtransport.report.html import render_html

        return write_text(Path(path), render_html(self.document(share)))

    def to_json(self, path: str | Path, *, share: int | None = None) -> Path:
        """Write the document as JSON; ``share`` as in `to_html`.

        Parameters
        ----------
        path
            Where to.
        share
            As in `to_html`.

        Returns
        -------
        Path
            Where the document is; the site's reference has a description of every field.

        Raises
        ------
        InputError
            If ``share`` is no whole number of at least 2.

        Examples
        --------
        >>> import json, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     said = json.loads(result.to_json(f"{folder}/audit.json").read_text("utf-8"))
        >>> said["verdict"], said["statistic"]
        ('rejected', 0.125)
        """
        return write_text(Path(path), self.document(share).to_json())

    def to_markdown(self, *, share: int | None = None) -> str:
        """Return a short report for a model card or a pull request; ``share`` as in `to_html`.

        Parameters
        ----------
        share
            As in `to_html`.

        Returns
        -------
        str
            Markdown.

        Raises
        ------
        InputError
            If ``share`` is no whole number of at least 2.

        Examples
        --------
        >>> print(result.to_markdown().splitlines()[0])
        # Audit for individual bias
        """
        from fairtransport.report.markdown import render_markdown

        return render_markdown(self.document(share))

    def add_to_model_card(self, path: str | Path, *, share: int | None = None) -> Path:
        r"""Put the short report into a model card, as a section that the next audit replaces.

        Parameters
        ----------
        path
            A Markdown file, such as the README.md of a model on the Hugging Face Hub; it is made
            where there is none. All else in it stays.
        share
            As in `to_html`.

        Returns
        -------
        Path
            Where the card is.

        Raises
        ------
        InputError
            If ``share`` is no whole number of at least 2.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     card = Path(folder, "README.md")
        ...     size = card.write_text("# The model\n")
        ...     text = result.add_to_model_card(card).read_text("utf-8")
        >>> text.startswith("# The model"), "rejected" in text
        (True, True)
        """
        from fairtransport.report.model_cards import with_section

        place = Path(path)
        card = place.read_text("utf-8") if place.exists() else ""
        return write_text(place, with_section(card, self.document(share)))

    def log_to_mlflow(self, run_id: str | None = None, *, share: int | None = None) -> str:
        """Log the audit to a run of MLflow: metrics, settings, verdict, report and document.

        Parameters
        ----------
        run_id
            The run; default: the active one, or one that is started.
        share
            As in `to_html`.

        Returns
        -------
        str
            The run's id.

        Raises
        ------
        InputError
            If ``share`` is no whole number of at least 2.

        Examples
        --------
        >>> import mlflow, os, tempfile
        >>> os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"  # a server or a database does without
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     before = mlflow.get_tracking_uri()
        ...     mlflow.set_tracking_uri(f"file://{folder}/runs")
        ...     run = mlflow.get_run(result.log_to_mlflow())
        ...     mlflow.end_run()
        ...     mlflow.set_tracking_uri(before)
        >>> run.data.metrics["fairtransport.statistic"], run.data.tags["fairtransport.verdict"]
        (0.125, 'rejected')
        """
        from fairtransport.report.mlflow_runs import log_summary

        return log_summary(self.document(share), run_id)

    def plot(self, kind: str = "flows", feature: str | None = None) -> ChartType:
        """Return an Altair chart.

        Parameters
        ----------
        kind
            "flows" (the change in counts by a feature), "law" (the sampling law with the
            bounds), "budget" (the statistic at every budget) or "methods" (bounds side by
            side).
        feature
            The feature of the flows; default: the first that is not sensitive.

        Returns
        -------
        altair.Chart
            A chart whose ``save`` writes HTML, PNG or SVG.

        Raises
        ------
        InputError
            If there is no chart of that kind, or no flow of that feature.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.plot("law").save(f"{folder}/law.svg")
        ...     Path(folder, "law.svg").read_text("utf-8")[:4]
        '<svg'
        """
        from fairtransport.report.pictures import picture

        choice("kind", kind, PLOTS)
        if feature is not None:
            choice("feature", feature, [table.feature for table in self.summary.flows])
        return picture(self.summary, kind, feature)

    def _repr_html_(self) -> str:
        from fairtransport.report.notebook import render_fragment

        return render_fragment(self.summary)

    def document(self, share: int | None = None) -> AuditSummary:
        """Return everything the audit says; ``share`` as in `to_html`.

        Parameters
        ----------
        share
            As in `to_html`.

        Returns
        -------
        AuditSummary
            The fields of the JSON document.

        Raises
        ------
        InputError
            If ``share`` is no whole number of at least 2.

        Examples
        --------
        >>> shared = result.document(share=5)
        >>> result.document().provenance.data_sha256 is None, shared.provenance.data_sha256 is None
        (False, True)
        """
        if share is None:
            return self.summary
        return shared_summary(self, self.summary, whole("share", share, at_least=2))

    @property
    def summary(self) -> AuditSummary:
        """Everything the audit says, as one document.

        Returns
        -------
        AuditSummary

        Examples
        --------
        >>> result.summary.verdict, result.summary.directions[0].worse
        ('rejected', 'f')
        """
        return replace(self._details, proxies=tuple(self.proxies_found))

    @property
    def headline(self) -> AuditSummary:
        """What a screen says of the audit, without what takes time and only a document shows.

        Returns
        -------
        AuditSummary

        Examples
        --------
        >>> result.headline.statistic == result.summary.statistic
        True
        """
        return replace(self._headline, proxies=tuple(self.proxies_found))

    @cached_property
    def _details(self) -> AuditSummary:
        return summarise(self, self._headline)

    @cached_property
    def _headline(self) -> AuditSummary:
        return summarise_headline(self)

    def as_table(self, columns: Mapping[str, Sequence[Value]]) -> IntoDataFrame:
        """Return columns as a frame in the library of the audit data.

        Parameters
        ----------
        columns
            Lists of equal length, by name.

        Returns
        -------
        DataFrame
            In the library of the audit data.

        Examples
        --------
        >>> result.as_table({"sex": ["f", "m"], "share": [0.5, 0.5]})
          sex  share
        0   f    0.5
        1   m    0.5
        """
        return plain_frame(columns, self.space.library)

    def sensitivity(self, *, eta: float = 0.1, draws: int = 20) -> Sensitivity:
        """Return what the result depends on: metric, threshold, budget, features.

        Parameters
        ----------
        eta
            How wrong squared distances may be, as a share of each.
        draws
            The number of random metrics to try.

        Returns
        -------
        Sensitivity
            ``metric``, ``flips`` and ``features``.

        Raises
        ------
        InputError
            If ``eta`` is not between 0 and 1, or ``draws`` no whole number.

        Examples
        --------
        >>> found = result.sensitivity(draws=3)
        >>> found.flips.rejected_below == result.lower_bound
        True
        """
        return find_sensitivity(self, eta, draws)

    def placebo(self, *, draws: int = 20, rng: Rng = None) -> Placebo:
        """Return the audit beside audits with sensitive features shuffled within profiles.

        Parameters
        ----------
        draws
            The number of shuffled audits.
        rng
            A seed or a numpy generator; default: the audit's seed.

        Returns
        -------
        Placebo
            The audit's figures and, in arrays, those of the shuffled audits.

        Raises
        ------
        InputError
            If ``draws`` is no whole number of at least 1.

        Notes
        -----
        Inside each profile (all columns but the sensitive ones, and the label) the model's
        answers are handed round between the sensitive groups: of given predictions, person by
        person; of a model that can be asked, between the twins, once a profile. Answers then
        differ as much as before, and who gets which has nothing to do with sensitive features.
        It is a baseline to read the figures against, and no test: that the statistic is no
        larger than a placebo's says that differences of this size come about without a system,
        not that nobody is treated differently. Where profiles are people's own there is nothing
        to shuffle; ``shuffled`` tells for how many there is.

        Examples
        --------
        >>> beside = result.placebo(draws=5)
        >>> beside.statistic, beside.statistics.round(3).tolist()
        (0.125, [0.125, 0.125, 0.125, 0.125, 0.125])
        """
        return find_placebo(self, draws, rng)

    def proxies(self, model: object = None, *, rng: Rng = None) -> tuple[Proxies, ...]:
        """Return which columns tell each sensitive feature, and what goes through each of them.

        Parameters
        ----------
        model
            The audited model, to be asked what the swaps that need sensitive features, or what
            tells them, to change add with one column changed alone, and with all but that one;
            None leaves this out.
        rng
            A seed or a numpy generator, by which people are halved; default: the audit's seed.

        Returns
        -------
        tuple[Proxies, ...]
            For each sensitive feature, how well it is told and by which columns.

        Raises
        ------
        InputError
            If there are no columns that could tell it.

        Notes
        -----
        Documents and reports that are made afterwards have it too. `audit` finds it at once where
        its ``proxies`` says so.

        A predictor (a random forest) is fitted on half of the people, at most 4,000 in all, and
        tried on the others. Given it, those are independent draws, so that the exact intervals of
        the shares of each level that are told rightly hold at every sample size, together; their
        mean is the interval of the balanced accuracy. It is of this predictor: a feature that is
        not told by it may be told by another. A column that tells little beyond what others tell
        has a high accuracy alone and leaves one as high without it. Swaps with one column put
        back may be of people who could not be; what they add need not sum to the whole. Of more
        than 30 columns, those that the predictor uses most are looked at one by one.

        Examples
        --------
        >>> import numpy as np
        >>> height = np.where(people["sex"] == "f", 165, 178) + np.arange(400) % 7
        >>> tall = ft.audit(people.assign(height=height), "good", model=hires,
        ...                 features=["grade", "sex", "height"], sensitive_features="sex", rng=0)
        >>> told = tall.proxies()[0]
        >>> told.feature, round(told.accuracy, 2), told.columns[0].name
        ('sex', 1.0, 'height')
        """
        oracle = None if model is None else asked_again(self, model)
        found = find_proxies(self, oracle, rng)
        self.proxies_found[:] = found
        return found

    def __str__(self) -> str:
        from fairtransport.report.sections.finding import (
            meaning,
            outlook_sentence,
            verdict_sentence,
        )

        if self.method == "finite-sample" and self.loss.range is None:
            return repr(self)
        headline = self.headline
        said = [verdict_sentence(headline), outlook_sentence(headline), meaning(headline)]
        return "\n".join([*filter(None, said), repr(self)])

    def __repr__(self) -> str:
        return (
            f"AuditResult(statistic={self.statistic:.4f}, n={self.n}, points={self.points}, "
            f"budget={self.problem.budget:g}, target_scope={self.target_scope!r})"
        )
