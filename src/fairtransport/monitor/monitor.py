"""Monitor: the audit of a stream, its state and its history."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fairtransport._core.files import write_text
from fairtransport._core.validation import short_repr
from fairtransport.audits.applicability import why_zero
from fairtransport.audits.decisions import as_audit_decisions, rule_of_answers
from fairtransport.errors import InputError, param
from fairtransport.explain.decisions import find_decisions
from fairtransport.inference.sequential import anytime_share_interval
from fairtransport.monitor.points import Points
from fairtransport.monitor.settings import MonitorSettings, check_settings
from fairtransport.monitor.state import SavedMonitor, dump_state, load_state
from fairtransport.monitor.streams import CostStream, FreeStream
from fairtransport.settings import AuditSettings, Queries, check_keywords
from fairtransport.similarity import IgnoreSensitive

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from altair.typing import ChartType

    from fairtransport._core.validation import Values
    from fairtransport.audits.decisions import AuditDecisions
    from fairtransport.data.columns import Value
    from fairtransport.data.sources import TableLike
    from fairtransport.monitor.points import Key, Records
    from fairtransport.settings import LossLike, SimilarityLike

NOISY = (
    "People with equal values in all columns got different decisions: these use more than the "
    "audited columns, or chance. The statistic counts that as bias, so it is no evidence, and a "
    "monitor cannot compare rates. Audit the cases so far with `audit`."
)
LOOK_ELSEWHERE = (
    "Bias can still come through other columns (proxies): audit the cases so far with `audit`, "
    "which says how to check."
)
MAX_CASES = 500
"""Maximum number of listed profiles with changed decisions."""
MAX_LOG_E_VALUE = 700.0
"""Maximum logarithm of a reported e-value, which keeps it finite."""


class Look(NamedTuple):
    """The evidence after ``n`` records.

    Attributes
    ----------
    n
        Number of records.
    statistic
        ψ(f_n).
    e_value, e_value_certificate
        E-values against ψ <= δ and against ψ >= δ, if there are any.
    lower, upper
        The confidence sequence; ``upper`` is None if targets depend on the stream.

    Examples
    --------
    >>> import fairtransport as ft
    >>> monitor = ft.Monitor(y="good", model=lambda x: (x["group"] == "a").astype(int),
    ...                      features=["group"], sensitive_features=["group"],
    ...                      levels={"group": ["a", "b"]}, delta=0.1)
    >>> state = monitor.update([{"group": "a", "good": 1}] * 5)
    >>> [(look.n, round(look.e_value, 1)) for look in state.history]
    [(1, 2.0), (2, 8.5), (3, 58.4), (4, 476.7), (5, 4124.8)]
    """

    n: int
    statistic: float
    e_value: float
    e_value_certificate: float | None
    lower: float
    upper: float | None


@dataclass(frozen=True)
class MonitorState:
    """The current evidence.

    Attributes
    ----------
    n
        Number of records.
    statistic
        ψ(f_n), the FaiTH statistic so far; 0 before the first record.
    e_value
        E-value against ψ <= δ; it ever reaches 1/α with probability at most α if that holds.
    e_value_certificate
        E-value against ψ >= δ; None if nothing can be certified.
    lower, upper
        The running confidence sequence: it covers ψ(f*) at all times together with probability 1 −
        α. ``upper`` is None if targets depend on the stream.
    verdict
        "rejected", "certified" or "inconclusive", at level α on each side. "not-applicable" once
        given answers differ inside a profile, or if the model receives no sensitive feature in
        which twins differ: there is no evidence about ψ then.
    stopped_at
        The record at which the verdict was reached; None while it is "inconclusive".
    target_scope
        "twins", "reference" or "observed", as in an audit.
    history
        Past looks: at each of the first records, then at one every 5 %.
    warnings
        Notes for readers of the numbers.
    applicability
        Why no verdict is possible; None if one is.

    Examples
    --------
    >>> import fairtransport as ft
    >>> monitor = ft.Monitor(y="good", model=lambda x: (x["group"] == "a").astype(int),
    ...                      features=["group"], sensitive_features=["group"],
    ...                      levels={"group": ["a", "b"]}, delta=0.1)
    >>> state = monitor.update([{"group": "a", "good": 1}] * 5)
    >>> state.n, state.statistic, state.verdict, state.stopped_at
    (5, 1.0, 'rejected', 3)
    """

    n: int
    statistic: float
    e_value: float
    e_value_certificate: float | None
    lower: float
    upper: float | None
    verdict: str
    stopped_at: int | None
    target_scope: str
    history: tuple[Look, ...]
    warnings: tuple[str, ...] = ()
    applicability: str | None = None


class Monitor:
    """Audit a stream: examine it after every record, stop when you like.

    Parameters
    ----------
    y
        The true labels. The name of their column.
    model
        The model, which is queried for every person. As in `audit`.
    y_pred, y_score
        As in `audit`: columns of predictions, where the model cannot be queried.
    sensitive_features, features, pos_label, bins, missing, similarity, loss, loss_range, budget
        As in `audit`; columns by their names. A loss without a range needs ``loss_range``.
    labels
        All labels that can occur, where probabilities are given. Not needed if the model tells
        them. Else answers have to be labels that were seen, once there are two.
    levels
        All values a sensitive column can have. Needed with ``model`` (bins tell theirs), so that
        the twins do not depend on the stream.
    targets
        As in `audit`: a frame of people with whom the cases are compared.
    delta
        Largest tolerated increase in the mean loss (δ).
    alpha
        Error probability over all time. It is that of each verdict and of the confidence
        sequence.
    favourable
        As in `audit`: the label that is good for a person, or all from worst to best.
    queries
        As in `audit`, of which ``log`` is possible.

    Raises
    ------
    InputError
        If a setting is invalid, such as a model without declared ``levels``.

    Notes
    -----
    If people move only to their twins, evidence is updated after every record. Under other
    similarities evidence against ψ <= δ is updated after each `update`, evidence for a certificate
    still after every record. Without a model and without ``targets`` people are compared with those
    seen so far: rejections and lower limits are valid, nothing can be certified. The limits are
    values of a fixed grid of 200, equally spaced in √δ.

    The guarantee needs independent records from one population, none of which the model was trained
    on.

    Examples
    --------
    >>> import fairtransport as ft
    >>> monitor = ft.Monitor(y="good", model=lambda x: (x["group"] == "a").astype(int),
    ...                      features=["group"], sensitive_features=["group"],
    ...                      levels={"group": ["a", "b"]}, delta=0.1)
    >>> for _ in range(5):
    ...     state = monitor.update({"group": "a", "good": 1})
    >>> state.verdict, state.stopped_at
    ('rejected', 3)
    """

    @check_keywords
    def __init__(
        self,
        *,
        y: str | None = None,
        model: object = None,
        y_pred: str | None = None,
        y_score: str | Sequence[str] | None = None,
        sensitive_features: str | Sequence[str],
        features: Sequence[str] | None = None,
        labels: Sequence[Value] | None = None,
        pos_label: Value = None,
        bins: Mapping[str, Sequence[float]] | None = None,
        missing: str = "error",
        levels: Mapping[str, Sequence[Value]] | None = None,
        targets: TableLike | None = None,
        similarity: SimilarityLike = "ignore-sensitive",
        loss: LossLike = "zero-one",
        loss_range: Sequence[float] | None = None,
        budget: float = 0.0,
        delta: float,
        alpha: float = 0.05,
        favourable: object = None,
        queries: Queries | None = None,
    ) -> None:
        audit = AuditSettings(
            sensitive_features=sensitive_features, features=features, pos_label=pos_label,
            bins=bins, missing=missing, levels=levels, targets=targets, similarity=similarity,
            loss=loss, loss_range=loss_range, budget=budget, delta=delta, alpha=alpha,
            favourable=favourable, queries=queries or Queries(),
        )  # fmt: skip
        self.settings: MonitorSettings = check_settings(
            audit, y=y, model=model, y_pred=y_pred, y_score=y_score, labels=labels
        )
        self.position: object = None
        self._points = Points(self.settings)
        self._answers: dict[Key, Key] = {}
        self._answers_differ = False
        self._history: list[Look] = []
        targets = self.settings.audit.targets
        free = self.settings.similarity == IgnoreSensitive() and targets is None
        self._stream: FreeStream | CostStream = (FreeStream if free else CostStream)(
            self.settings, self._points, self._watch
        )

    def __repr__(self) -> str:
        state = self.state
        return f"Monitor(n={state.n}, verdict={state.verdict!r}, e_value={state.e_value:.3g})"

    def update(self, points: Records) -> MonitorState:
        """Process a record (a dict), a list of records or an eager data frame, in order.

        An invalid record raises an error, and none of its batch is counted. The model's answers so
        far are kept.

        Parameters
        ----------
        points
            One record or several; columns by their names.

        Returns
        -------
        MonitorState
            The current evidence.

        Raises
        ------
        DataError
            If a record lacks a column or has an invalid value.
        ModelError
            If the model fails.

        Examples
        --------
        >>> decisions = ft.Monitor(y="good", y_pred="hired", sensitive_features="group", delta=0.1)
        >>> decisions.update([{"group": "b", "good": 1, "hired": 0}]).n
        1
        >>> decisions.update({"group": "b", "good": 1})
        Traceback (most recent call last):
        fairtransport.errors.DataError: records must have the columns group, good, hired, but lack
        'hired'
        """
        # a batch counts as a whole or not at all, so that nobody counts twice if it is sent again
        before = self._points.snapshot()
        try:
            keys = self._points.read(points)
            if keys:
                self._stream.take(keys)
                self._note_answers(keys)
        except BaseException:
            self._points.roll_back(before)
            raise
        return self.state

    def expect(self, columns: Sequence[str]) -> None:
        """Check that records to come will have the required columns.

        Parameters
        ----------
        columns
            The names of the columns of these records.

        Raises
        ------
        DataError
            If a required column is missing.

        Examples
        --------
        >>> monitor.expect(["group", "good"])
        >>> monitor.expect(["group"])
        Traceback (most recent call last):
        fairtransport.errors.DataError: records must have the columns group, good, but lack 'good'
        """
        self._points.check_columns(columns)

    @property
    def queried(self) -> int:
        """Number of distinct questions to the model."""
        return self._points.oracle.queried

    @property
    def state(self) -> MonitorState:
        """The current evidence."""
        now, evidence = self._now(), self._stream.evidence
        rejected, certified = evidence.rejected_at, evidence.certified_at
        verdict, stopped_at, warnings = "inconclusive", None, []
        obstacle = self._obstacle()
        if obstacle is not None:
            verdict = "not-applicable"
        elif rejected and certified:
            warnings.append(
                f"δ-fairness was rejected at case {rejected} and certified at case {certified}: "
                "one of the two is wrong, or the stream has changed."
            )
        elif rejected or certified:
            verdict, stopped_at = "rejected" if rejected else "certified", rejected or certified
        if not self.settings.fixed_targets:
            copies = " and with copies of themselves" if self.settings.box is not None else ""
            warnings.append(
                f"People are compared only with people seen so far{copies}. Differences from "
                "others may be missed, so nothing can be certified."
            )
        if self.settings.box is not None:
            warnings.extend(self._points.oracle.notes())
        return MonitorState(
            n=now.n, statistic=now.statistic, e_value=now.e_value,
            e_value_certificate=now.e_value_certificate, lower=now.lower, upper=now.upper,
            verdict=verdict, stopped_at=stopped_at, target_scope=self.settings.target_scope,
            history=tuple(self._history), warnings=tuple(warnings),
            applicability=obstacle,
        )  # fmt: skip

    def _obstacle(self) -> str | None:
        """Return why no verdict is possible; None if one is."""
        if self._answers_differ:
            return NOISY
        asks = self.settings.box is not None
        # which columns the model receives is known with the first record
        if asks and self._points.names and self.settings.similarity.moves_only_to_twins:
            reason = why_zero(self.settings.sensitive, self._points.roles.features)
            return None if reason is None else f"{reason} {LOOK_ELSEWHERE}"
        return None

    @property
    def decisions(self) -> AuditDecisions | None:
        """Whose decision would change so far; None without a model, or if twins are not free.

        Its intervals are valid after every record: each covers its share at all times together with
        probability 1 − α, if records are independent draws from one population.

        Examples
        --------
        >>> monitor.decisions.changed.people, round(monitor.decisions.changed.lower, 2)
        (5, 0.41)
        """
        if self.settings.box is None or not isinstance(self._stream, FreeStream):
            return None
        cells = zip(self._stream.cell_of, self._stream.counts.tolist(), strict=True)
        space = self._points.space_of_twins({key: count for key, count in cells if count})
        if not space.size or self._obstacle() is not None:
            return None
        answers = self._points.oracle.answer(space)
        audit = self.settings.audit
        self._check_order(answers.labels)
        rule = rule_of_answers(answers, self.settings.loss, audit.favourable_order)
        decisions = find_decisions(space, rule, audit.alpha, MAX_CASES, anytime_share_interval)
        return as_audit_decisions(decisions, self._points.library)

    def _check_order(self, labels: Values | None) -> None:
        """Check that an order of labels has all labels that the model gave so far."""
        order = self.settings.audit.favourable_order
        unknown = set() if labels is None else {*labels.tolist()}.difference(order)
        if len(order) > 1 and unknown:
            label = short_repr(min(unknown, key=str))
            msg = f"{param('favourable')} must hold every label, but lacks {label}"
            raise InputError(msg)

    def plot(self) -> ChartType:
        """Return an Altair chart of the statistic and its confidence sequence so far.

        Returns
        -------
        altair.Chart
            The statistic, its limits and δ over the number of records.

        Raises
        ------
        InputError
            If there is no record yet.

        Examples
        --------
        >>> list(monitor.plot().to_dict())[:2]
        ['config', 'layer']
        """
        from fairtransport.report.charts import confidence_sequence_chart
        from fairtransport.report.charts.style import offline

        now = self._now()
        if not now.n:
            msg = "a monitor has nothing to plot before its first record"
            raise InputError(msg)
        looks = [look for look in self._history if look.n < now.n]
        rows = [look._asdict() for look in (*looks, now)]
        state = self.state
        verdict = None if state.stopped_at is None else (state.verdict, state.stopped_at)
        return offline(confidence_sequence_chart(rows, delta=self.settings.delta, decided=verdict))

    @property
    def above_since(self) -> int | None:
        """The number of cases at the first look with a lower bound above δ; None without one."""
        from fairtransport.report.charts.curves import first_above

        looks = [look._asdict() for look in (*self._history, self._now()) if look.n]
        return first_above(looks, self.settings.delta) if looks else None

    def save(self, path: str | Path) -> None:
        """Write the state for `resume` atomically: a reader sees the old file or the new one.

        ``monitor.position``, any JSON value, is stored in the same file: set it to the position of
        the next records, and a killed process neither loses nor repeats any. Two processes must not
        save to one file; `fairtransport monitor` locks it.

        Parameters
        ----------
        path
            Path of the file, which is JSON.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     monitor.save(f"{folder}/state.json")
        ...     again = ft.Monitor.resume(f"{folder}/state.json", model=monitor.settings.box)
        >>> again.state == monitor.state
        True
        """
        content: SavedMonitor = {
            "settings": self.settings.saved,
            "target_scope": self.settings.target_scope,
            "features": list(self._points.roles.features) if self._points.names else None,
            "position": self.position,
            "answers": [
                (list(question), answer) for question, answer in self._points.oracle.answers.items()
            ],
            "history": self._history,
            "stream": self._stream.as_json(),
        }
        write_text(Path(path), dump_state(content))

    @classmethod
    def resume(
        cls, path: str | Path, *, model: object = None, similarity: SimilarityLike | None = None,
        loss: LossLike | None = None, targets: TableLike | None = None,
        queries: Queries | None = None,
    ) -> Monitor:  # fmt: skip
        """Return a monitor that was saved.

        A model and its query log, a similarity or loss that was not given by name, and a reference
        frame are not in the file: pass the same ones again. A few earlier questions are repeated
        with the next query of the model, and other answers than before are an error. So is a
        changed file.

        Parameters
        ----------
        path
            The file that `save` wrote.
        model, similarity, loss, targets, queries
            What the file lacks, as it was given to the monitor.

        Returns
        -------
        Monitor
            The monitor in the saved state.

        Raises
        ------
        InputError
            If something required is not given again, or differs.
        DataError
            If the file was changed.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     monitor.save(f"{folder}/state.json")
        ...     again = ft.Monitor.resume(f"{folder}/state.json", model=monitor.settings.box)
        >>> again
        Monitor(n=5, verdict='rejected', e_value=4.12e+03)
        """
        saved = load_state(Path(path))
        options: dict[str, Any] = {**saved["settings"]}
        for name, value in (("similarity", similarity), ("loss", loss)):
            options[name] = _check_same(name, options[name], value)
        monitor = cls(**options, model=model, targets=targets, queries=queries)
        if monitor.settings.target_scope != saved["target_scope"]:
            msg = (
                f"{param('targets')} must be those of the saved monitor, got {short_repr(targets)}"
            )
            raise InputError(msg)
        monitor._restore(saved)
        return monitor

    def _restore(self, saved: SavedMonitor) -> None:
        """Restore the content of a state file."""
        self.position = saved["position"]
        if saved["features"] is not None:
            self._points.fix_features(saved["features"])
        self._points.restore(
            {tuple(question): answer for question, answer in saved["answers"]},
            [tuple(key) for key in saved["stream"]["points"]],
        )
        self._history = [Look(*look) for look in saved["history"]]
        self._stream.restore(saved["stream"])
        self._note_answers([tuple(key) for key in saved["stream"]["points"]])

    def _note_answers(self, keys: Sequence[Key]) -> None:
        """Store the answer of each profile and label, until one has two."""
        if not self.settings.predictions:
            return
        for key in keys if not self._answers_differ else ():
            case, answer = self._points.case_and_answer(key)
            self._answers_differ |= self._answers.setdefault(case, answer) != answer

    def _now(self) -> Look:
        """Return the evidence after the last record."""
        evidence = self._stream.evidence
        certificate = evidence.log_e_value_certificate
        return Look(
            evidence.n,
            self._stream.statistic,
            math.exp(min(evidence.log_e_value, MAX_LOG_E_VALUE)),
            None if certificate is None else math.exp(min(certificate, MAX_LOG_E_VALUE)),
            evidence.lower,
            evidence.upper,
        )

    def _watch(self) -> None:
        """Add a look to the history; streams call it at record numbers fixed beforehand."""
        self._history.append(self._now())


def _check_same(name: str, saved: object, value: object) -> object:
    """Return a saved setting, or the object that must be given again."""
    if saved is not None:
        if value is not None and value != saved:
            msg = (
                f"{param(name)} must be that of the saved monitor, {saved!r}, got "
                f"{short_repr(value)}"
            )
            raise InputError(msg)
        return saved
    if value is None:
        msg = f"{param(name)} must be given again: the saved one was not a name"
        raise InputError(msg)
    return value
