"""When a statistic is searched for in rounds: its bracket, and those of parts of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtransport.memory import working_within
from fairtransport.transport.bracket import Rounds, bracketed, can_be_bracketed

if TYPE_CHECKING:
    from fairtransport.audit.core import Core
    from fairtransport.settings import AuditSettings
    from fairtransport.space import SampleSpace
    from fairtransport.transport import AuditProblem


def narrowed(settings: AuditSettings, problem: AuditProblem, space: SampleSpace) -> AuditProblem:
    """Return a problem with what was found of it within the limits, or itself if there are none."""
    limited = settings.time_limit is not None or settings.search_rounds is not None
    if not limited or not can_be_bracketed(problem):
        return problem
    rounds = Rounds(seconds=settings.time_limit, most=settings.search_rounds)
    return bracketed(problem, space.frequencies, rounds, _rng(settings))


def value_at_most(core: Core, problem: AuditProblem) -> float:
    """Return the value of another problem over the audit's points, or what it is at most.

    Where the audit's own is a bracket, as many rounds are made again: an upper value, so that
    what is left of the statistic without it is not said too large.
    """
    if core.bracket is None or not can_be_bracketed(problem):
        with working_within(core.settings.memory_limit):
            return problem.value(core.space.frequencies)
    rounds = Rounds(most=core.bracket.rounds)
    found = bracketed(problem, core.space.frequencies, rounds, _rng(core.settings))
    return found.bracket.upper


def _rng(settings: AuditSettings) -> np.random.Generator:
    return np.random.default_rng([settings.seed, 29])
