"""Earlier audits together: verdicts for all of them, evidence of independent ones multiplied."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

from fairtransport.audit.entries import FEWEST
from fairtransport.checks import shown
from fairtransport.errors import InputError
from fairtransport.family import FAMILY_SCHEMA, FamilySummary, Member, Multiplied
from fairtransport.inference.finite.finite_sample import MOST_LOG_WEALTH
from fairtransport.inference.multiplicity import Family, calibrated
from fairtransport.settings import AuditSettings, checked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport.audit.earlier import Earlier

ROUNDED = (
    "{names}: shared with rounded numbers. p-values are rounded upwards and intervals outwards, so "
    "that verdicts here still hold, with less power; what speaks for a certificate is not told."
)
ON_YOUR_WORD = (
    "That the samples are independent is taken on your word: people who are in two of them would "
    "not be noticed."
)
NOT_TOLD = (
    "Which data {names} is about is not told, so that the same data twice would be noticed only if "
    "the documents were the same."
)
FROM_PVALUES = "The evidence of {names} is made from the p-value, e = 1/(2√p), which is weaker."
EACH_LEVEL = (
    "The verdicts of the table and the evidence multiplied are two statements, each at the level "
    "of the family."
)


def combine(
    audits: Sequence[Earlier], *, alpha: float = AuditSettings.alpha, independent: bool = False
) -> FamilySummary:
    """Put earlier audits together.

    Parameters
    ----------
    audits
        What their documents tell.
    alpha
        The probability that any verdict is wrong, at most.
    independent
        Whether the samples are independent, and the audits about one question: evidence is then
        multiplied.

    Returns
    -------
    FamilySummary
        A row an audit, and the multiplied evidence if it was asked for.

    Raises
    ------
    InputError
        If there are fewer than two, or evidence cannot be multiplied.

    Notes
    -----
    p-values are adjusted and certificates have the level of `Family`. The intervals are the
    documents' own: each misses with its own probability, all together with at most the sum.
    Multiplied evidence is against the hypothesis that δ-fairness holds in *every* population
    sampled: under it each e-value has mean at most 1, so has the product of independent ones, and
    by Markov's inequality it reaches 1/α with probability at most α.
    """
    from importlib.metadata import version

    level = checked("alpha", alpha)
    _refuse_too_few(audits)
    tested = [one for one in audits if one.delta is not None and one.pvalue is not None]
    # targets from the sample certify nothing, so that their certificates need no share of α
    certifiable = sum(one.scope != "observed" for one in tested)
    family = Family(level, len(audits), len(tested), certifiable)
    multiplied = _multiplied(audits, level) if independent else None
    return FamilySummary(
        schema=FAMILY_SCHEMA,
        alpha=level,
        intervals_miss=min(1.0, math.fsum(one.alpha for one in audits)),
        certificate_level=family.end_level,
        members=_members(audits, tested, family, independent=independent),
        multiplied=multiplied,
        warnings=tuple(_warnings(audits, independent=independent)),
        version=version("fairtransport"),
    )


def _members(
    audits: Sequence[Earlier], tested: Sequence[Earlier], family: Family, *, independent: bool
) -> tuple[Member, ...]:
    """Return a row for each audit, with adjusted p-values and the family's verdicts.

    Parameters
    ----------
    audits, tested
        All of them, and those with a threshold and a p-value.
    family
        The levels.
    independent
        Whether evidence is told.
    """
    adjusted = family.adjusted([_known(one.pvalue) for one in tested]).tolist()
    certified = [_certificate_pvalue(one) <= family.end_level for one in tested]
    verdicts = family.verdicts(adjusted, certified)
    found = {
        id(one): (p, verdict) for one, p, verdict in zip(tested, adjusted, verdicts, strict=True)
    }
    return tuple(
        Member(
            name=one.name,
            model=one.model,
            n=one.n,
            statistic=one.statistic,
            lower=one.lower,
            upper=one.upper,
            delta=one.delta,
            pvalue=one.pvalue,
            pvalue_adjusted=found.get(id(one), (None, None))[0],
            evalue=_evalue(one) if independent else None,
            verdict=found.get(id(one), (None, None))[1] if one.applicable else "not-applicable",
            guarantee=one.guarantee,
        )
        for one in audits
    )


def _refuse_too_few(audits: Sequence[Earlier]) -> None:
    """Refuse a family of fewer than two."""
    if len(audits) < FEWEST:
        msg = f"`files` must be at least {FEWEST} documents, got {len(audits)}"
        raise InputError(msg)


def _multiplied(audits: Sequence[Earlier], alpha: float) -> Multiplied:
    """Return the product of independent evidence about one question, or say why it cannot be had.

    Raises
    ------
    InputError
        If questions differ, data are the same, or an audit has no evidence valid at every n.
    """
    for one in audits[1:]:
        _refuse_other_question(audits[0], one)
    _refuse_same_data(audits)
    for one in audits:
        _refuse_without_evidence(one)
    # a product of independent e-values is one: its mean is the product of means of at most 1
    total = math.fsum(_log(_evalue(one)) for one in audits)
    return Multiplied(
        hypothesis=(
            f"δ-fairness with δ = {_known(audits[0].delta):g} holds in every population that these "
            "samples were drawn from. If they are from one population, that is δ-fairness there; "
            "else a rejection says that it fails in at least one of them."
        ),
        evalue=math.exp(min(total, MOST_LOG_WEALTH)),
        pvalue=math.exp(-max(total, 0.0)),
        rejected=total >= -math.log(alpha),
    )


def _log(evidence: float) -> float:
    """Return the logarithm of evidence; −∞ of none."""
    return math.log(evidence) if evidence > 0 else -math.inf


def _refuse_other_question(first: Earlier, second: Earlier) -> None:
    """Refuse to multiply evidence of two audits that asked different things.

    Parameters
    ----------
    first, second
        Their ``question`` has what the hypothesis is made of, such as δ, loss, similarity and
        budget.

    Raises
    ------
    InputError
        Naming the first thing in which they differ.
    """
    for key, value in first.question.items():
        if second.question[key] != value:
            msg = (
                f"`independent` multiplies evidence about one question, but {first.name!r} and "
                f"{second.name!r} differ in {key}: {shown(value)} and "
                f"{shown(second.question[key])}"
            )
            raise InputError(msg)


def _refuse_same_data(audits: Sequence[Earlier]) -> None:
    """Refuse to multiply evidence of the same data twice.

    Parameters
    ----------
    audits
        All that are to be multiplied, by pairs.

    Raises
    ------
    InputError
        If two have the same content or the same hash of their data: the user's word cannot be
        right.
    """
    for first, second in combinations(audits, 2):
        if _tell_the_same(first, second):
            msg = (
                f"`independent` must not be said of {first.name!r} and {second.name!r}: "
                "they are audits of the same data"
            )
            raise InputError(msg)


def _tell_the_same(first: Earlier, second: Earlier) -> bool:
    """Whether two documents are about the same data, as far as can be told.

    Parameters
    ----------
    first, second
        The same content, or the same hash of data; a shared document tells no hash.
    """
    if first.content == second.content:
        return True
    return first.fingerprint is not None and first.fingerprint == second.fingerprint


def _refuse_without_evidence(one: Earlier) -> None:
    """Refuse an audit without a threshold, one that could find nothing, or an asymptotic one.

    Parameters
    ----------
    one
        An audit whose evidence is to be a factor.

    Raises
    ------
    InputError
        If it is no e-value: a product has a mean of at most 1 only if every factor has, at its own
        sample size.
    """
    if one.delta is None or one.pvalue is None:
        msg = f"`independent` needs audits with a threshold δ, got {one.name!r} without"
        raise InputError(msg)
    if not one.applicable:
        msg = (
            f"`independent` needs audits that could find something, got {one.name!r}, "
            "which is not applicable"
        )
        raise InputError(msg)
    if one.guarantee != "finite-sample":
        msg = (
            f"`independent` needs audits whose guarantee holds at every sample size, got "
            f"{one.name!r}, {one.guarantee}"
        )
        raise InputError(msg)


def _evalue(one: Earlier) -> float:
    """Return a document's evidence; from its p-value where it does not tell it.

    Parameters
    ----------
    one
        The document.
    """
    return calibrated(_known(one.pvalue)) if one.evalue is None else one.evalue


def _certificate_pvalue(one: Earlier) -> float:
    """Return the p-value of ψ >= δ, or what a certificate at a document's own level says of it.

    Parameters
    ----------
    one
        The document; documents of earlier versions tell only whether it was certified.
    """
    if one.certificate_pvalue is not None:
        return one.certificate_pvalue
    return one.alpha if one.certified else 1.0


def _known(value: float | None) -> float:
    """Return a number that must be there; NaN, which nothing is at most, where it is not."""
    return math.nan if value is None else value


def _warnings(audits: Sequence[Earlier], *, independent: bool) -> list[str]:
    """Return what a reader of the family's table should know.

    Parameters
    ----------
    audits
        The audits that were put together.
    independent
        Whether evidence was multiplied on the user's word.

    Returns
    -------
    list of str
        On rounded numbers of shared documents, audits that hide which data they had, and e-values
        that had to be made from p-values.
    """
    rounded = [one.name for one in audits if one.shared]
    hidden = [one.name for one in audits if one.fingerprint is None]
    weak = [one.name for one in audits if one.evalue is None]
    notes = [ROUNDED.format(names=", ".join(rounded))] if rounded else []
    if independent:
        notes.append(ON_YOUR_WORD)
        notes += [NOT_TOLD.format(names=", ".join(hidden))] if hidden else []
        notes += [FROM_PVALUES.format(names=", ".join(weak))] if weak else []
        notes.append(EACH_LEVEL)
    return notes
