"""The follow-up's Adult study: four models, its test and an audit of each, beside its figures."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.audit import audit
from fairtransport.checks import shown
from fairtransport.datasets.adult import LABEL
from fairtransport.errors import InputError
from fairtransport.progress import track
from fairtransport.reproduce.adult_study import (
    COLUMNS,
    GROUPS,
    ITERATIONS,
    TOLERANCE,
    basis,
    split_adult,
)
from fairtransport.reproduce.agreement import beside
from fairtransport.reproduce.extras import needed
from fairtransport.reproduce.gradient_flow import GradientFlow, beyond, entropy_loss
from fairtransport.reproduce.keeping import Kept, versions
from fairtransport.reproduce.loss_ratio import loss_ratio_test
from fairtransport.reproduce.networks import TrainingSettings, baseline, project
from fairtransport.reproduce.reduction import ReductionSettings, reduction
from fairtransport.reproduce.sensr import SenSRSettings, sensr
from fairtransport.reproduce.torch_state import one_thread, tensor
from fairtransport.similarity import SensitiveSubspace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from fairtransport.checks import FloatArray
    from fairtransport.reproduce.adult_study import AdultSplit, People
    from fairtransport.reproduce.networks import LogOdds

PAPER_RUNS = 10
PAPER_BOUNDS = {
    "Baseline": (3.68, 2.05),
    "Project": (1.66, 0.34),
    "Reduction": (5.71, 2.15),
    "SenSR": (1.021, 0.008),
}
"""The published T, mean ± standard deviation over ten seeds."""
PAPER_REJECTED = {"Baseline": 10, "Project": 9, "Reduction": 10, "SenSR": 0}
BUDGET = 0.01
"""The mean squared distance of the audits."""
KINDS = ("observed", "generate", "search")
"""Whom the audits compare people with: those who were observed, or twins that are made up."""
LIBRARIES = ("fairlearn", "numpy", "scikit-learn", "torch")


@dataclass(frozen=True)
class StudySettings:
    """Everything that decides the figures of a seed.

    Attributes
    ----------
    training, reduction, sensr
        How the plain networks, the reduction and SenSR are trained.
    flow
        The attack of the follow-up's test.
    budget
        ε of the audits beside it.
    people
        At most how many people are audited; None: all of the last fifth.
    """

    training: TrainingSettings = field(default_factory=TrainingSettings)
    reduction: ReductionSettings = field(default_factory=ReductionSettings)
    sensr: SenSRSettings = field(default_factory=SenSRSettings)
    flow: GradientFlow = field(default_factory=GradientFlow)
    budget: float = BUDGET
    people: int | None = None

    def as_dict(self) -> dict[str, object]:
        """Return the settings as they are recorded."""
        directions = {"iterations": ITERATIONS, "tolerance": TOLERANCE}
        return {**asdict(self), "directions": directions}

    def models(self) -> dict[str, Callable[[People, int], LogOdds]]:
        """Return how each model is trained from people and a seed, in ``PAPER_BOUNDS``' order."""
        return {
            "Baseline": lambda people, seed: baseline(people, seed, self.training),
            "Project": lambda people, seed: project(people, seed, self.training),
            "Reduction": lambda people, seed: reduction(people, seed, self.reduction),
            "SenSR": lambda people, seed: sensr(people, seed, self.sensr),
        }


@dataclass(frozen=True, eq=False)
class AdultNetworks:
    """The seeds' figures by model, and their summary beside what was published.

    Attributes
    ----------
    runs
        A seed each: its figures by model.
    summary
        A row a model.
    settings
        As they are recorded with the figures.
    """

    runs: tuple[dict[str, Any], ...]
    summary: pd.DataFrame
    settings: dict[str, object]


def adult_networks(
    seeds: int = PAPER_RUNS,
    *,
    cache: Path,
    seed: int = 0,
    settings: StudySettings | None = None,
    audit_settings: Mapping[str, Any] | None = None,
) -> AdultNetworks:
    """Remake the follow-up's Adult study.

    Parameters
    ----------
    seeds
        How many random splits and trainings.
    cache
        The folder that keeps what is finished, model by model.
    seed
        The first; the others follow it.
    settings
        How models are trained and attacked.
    audit_settings
        Further settings of `audit`, for the audits beside the test.
    """
    chosen, further = settings or StudySettings(), dict(audit_settings or {})
    numbers = {"seeds": seeds} | ({} if chosen.people is None else {"people": chosen.people})
    for name, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            msg = f"`{name}` must be a whole number >= 1, got {shown(value)}"
            raise InputError(msg)
    for module in ("torch", "fairlearn"):
        needed(module)
    record = {**chosen.as_dict(), "audit_settings": further}
    kept = Kept.under(cache, {**record, "libraries": versions(LIBRARIES)})
    numbered = range(seed, seed + seeds)
    runs = list(track((_run(one, chosen, further, kept) for one in numbered), seeds, "Seeds"))
    return AdultNetworks(tuple(runs), summarise(runs), record)


def _run(seed: int, settings: StudySettings, further: dict[str, Any], kept: Kept) -> dict[str, Any]:
    """Return the figures of a seed; what is kept is not computed again."""
    figures = kept.read(seed) or {"seed": seed}
    missing = [name for name in PAPER_BOUNDS if name not in figures]
    if not missing:
        return figures
    split = split_adult(seed, settings.people)
    # the follow-up takes the directions from the audited people
    directions = basis(split.audit.directions())
    similarity = SensitiveSubspace(list(GROUPS))
    similarity.fit(split.training.frame.drop(columns=LABEL))
    for name in missing:
        model = settings.models()[name](split.training, seed)
        figures[name] = tested(model, split.audit, directions, settings.flow)
        for kind in KINDS:
            asked = {"twins": kind, **further}
            found = audited(model, split, similarity, settings.budget, asked)
            figures[name] |= {f"{kind}_{figure}": value for figure, value in found.items()}
        kept.keep(seed, figures)
    return figures


def tested(
    model: LogOdds, people: People, directions: FloatArray, flow: GradientFlow
) -> dict[str, float]:
    """Return what the follow-up's test says of a model, and how well it predicts.

    Parameters
    ----------
    model
        Log-odds as a function of points, with gradients.
    people
        Those audited.
    directions
        (39, k) orthonormal columns along which people move for free.
    flow
        The attack.

    Returns
    -------
    dict
        The mean ratio of losses, its lower bound T and whether that rejects; the largest ratio; the
        ratio of mean losses and the mean squared distance of the attack; the balanced accuracy.
    """
    labels, points = tensor(people.labels), tensor(people.points)
    taken = tensor(directions)
    with one_thread():
        moved = flow.attack(lambda places: entropy_loss(model(places), labels), points, taken)
        # the losses themselves in double precision: ratios of small ones need the digits
        before, after = (
            entropy_loss(model(places).double(), labels.double()).numpy()
            for places in (points, moved)
        )
        right = ((model(points) > 0) == (labels > 0)).numpy()
        distance = float((beyond(moved - points, taken) ** 2).sum(dim=1).mean())
    found = loss_ratio_test(before, after)
    return {
        "ratio": found.mean,
        "bound": found.lower_bound,
        "rejected": found.rejected,
        "largest_ratio": float((after / before).max()),
        "flow_ratio_of_means": float(after.mean() / before.mean()),
        "flow_distance": distance,
        "balanced_accuracy": float(np.mean([right[people.labels == y].mean() for y in (0, 1)])),
    }


def audited(
    model: LogOdds,
    split: AdultSplit,
    similarity: SensitiveSubspace,
    budget: float,
    further: Mapping[str, Any],
) -> dict[str, float | None]:
    """Audit a model as a black box, under the directions that the training people show.

    Parameters
    ----------
    model
        Log-odds as a function of points.
    split
        People, and how they become points.
    similarity
        Fitted on the training people.
    budget
        ε.
    further
        Further settings of `audit`.

    Returns
    -------
    dict
        The statistic of the log loss, its lower bound, and the worst-case over the baseline risk.
    """

    def probability(frame: pd.DataFrame) -> FloatArray:
        """Return the model's probability of the label 1 for a frame of people."""
        with one_thread():
            return np.asarray(model(tensor(split.coding(frame))).double().sigmoid())

    result = audit(
        split.audit.frame, LABEL, model=probability, features=list(COLUMNS), budget=budget,
        sensitive_features=list(GROUPS), similarity=similarity, loss="log", rng=0, **further,
    )  # fmt: skip
    return {
        "statistic": result.statistic,
        "lower_bound": result.lower_bound,
        "ratio": result.worst_case_risk / result.baseline_risk,
    }


def summarise(runs: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return a row a model: the published T beside ours, rejections, and means of the rest.

    Parameters
    ----------
    runs
        Figures of the seeds.
    """
    import pandas as pd

    rows = []
    for name, (mean, sd) in PAPER_BOUNDS.items():
        found = pd.DataFrame([run[name] for run in runs])
        rest = found.drop(columns=["bound", "rejected"]).astype(float)
        rejected = {
            "paper_rejected": PAPER_REJECTED[name],
            "rejected": int(found["rejected"].sum()),
        }
        parts = (
            beside(mean, sd, PAPER_RUNS, found["bound"]),
            rejected,
            rest.mean(),
            rest.std().add_suffix("_sd"),
        )
        rows.append(pd.concat([pd.Series(part, dtype=object) for part in parts]).rename(name))
    return pd.DataFrame(rows).infer_objects().rename_axis("model").reset_index()
