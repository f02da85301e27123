"""The instrument itself: an audit of COMPAS' own scores, and who is favoured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtransport.audit import AuditResult, audit
from fairtransport.datasets.compas import DELTA, FEATURES, LABEL, SENSITIVE, load_compas
from fairtransport.localise.profiles import Profiles, name_of
from fairtransport.progress import track
from fairtransport.reproduce.compas_study import audit_of_split

if TYPE_CHECKING:
    import pandas as pd

    from fairtransport.checks import FloatArray

WHITE_WOMEN, BLACK_MEN = "Caucasian, Female", "African-American, Male"


def audit_instrument(seed: int = 0) -> AuditResult:
    """Audit the published scores (5 or more of 10: high risk), with predictions only.

    The scores rest on more than the five features here, so that one profile has many
    different predictions; `AuditResult.disagreement` is the part of the statistic that this
    alone makes.

    Parameters
    ----------
    seed
        Of the bets.
    """
    return audit(
        load_compas(), LABEL, y_pred="high_risk", counts="count", delta=DELTA, rng=seed,
        sensitive_features=list(SENSITIVE), favourable=0, privileged={"race": "Caucasian"},
    )  # fmt: skip


def audit_rates() -> AuditResult:
    """Audit the share of high-risk scores among people with one profile, as if it were a model.

    The shares are of the audit data themselves: the result describes these people, and its
    bounds mean nothing. The loss is how far the share is from the label.
    """
    counts = load_compas()
    keys = list(FEATURES)
    people = counts.groupby(keys)["count"].sum()
    rates = counts[counts["high_risk"] == 1].groupby(keys)["count"].sum().div(people).fillna(0.0)
    overall = float(counts.loc[counts["high_risk"] == 1, "count"].sum() / counts["count"].sum())

    def rate(points: pd.DataFrame) -> FloatArray:
        """Return the share of high-risk scores at each point's profile."""
        # a profile that nobody has gets the share of everybody
        wanted = points.set_index(keys).index
        return rates.reindex(wanted).fillna(overall).to_numpy()

    return audit(
        counts.drop(columns="high_risk"), LABEL, model=rate, counts="count", loss="absolute",
        features=keys, sensitive_features=list(SENSITIVE), loss_range=(0, 1), rng=0,
    )  # fmt: skip


def errors_as(result: AuditResult) -> pd.DataFrame:
    """Count for each group who is classified right but would not be as one of that group.

    Unlike the flows this does not depend on which of several equally bad twins a plan takes.

    Parameters
    ----------
    result
        An audit with twins and 0-1 loss.

    Returns
    -------
    Columns: ``label``, ``group`` and ``people``.
    """
    import pandas as pd

    space, losses = result.space, result.problem.losses
    others = [name for name in space.profile if name not in space.sensitive]
    block = space.groups((*others, *([] if space.label is None else [space.label])))
    firsts, group = space.first_of_groups, space.sensitive_groups
    worst = np.zeros((block.max() + 1, len(firsts)), bool)
    np.logical_or.at(worst, (block, group), losses > 0)
    right = losses == 0
    profiles = Profiles(space)
    labels = np.array([profiles.label(point) for point in range(space.size)])
    rows = [
        {
            "label": label,
            "group": name_of(profiles.group(int(first))),
            "people": int(space.counts[right & (labels == label) & worst[block, at]].sum()),
        }
        for label in sorted(set(labels.tolist()))
        for at, first in enumerate(firsts)
    ]
    return pd.DataFrame(rows)


def privilege_of_split(seed: int) -> dict[str, float | bool]:
    """Return what the paper says of the logistic regression's moves, for one split.

    Keys: whether reoffenders would be misclassified as white women, and others as black men,
    at least as often as as members of any other group; how many people of 25 to 45 years and
    with 1 to 3 prior crimes are moved; the verdict.

    Parameters
    ----------
    seed
        Which split.
    """
    result = audit_of_split(seed)
    errors = errors_as(result).set_index(["label", "group"])["people"]
    moves = result.moves
    return {
        "seed": seed,
        "white_women_favoured": bool(errors[1, WHITE_WOMEN] == errors[1].max()),
        "black_men_disfavoured": bool(errors[0, BLACK_MEN] == errors[0].max()),
        "moved_aged_25_to_45": float(moves.loc[moves["from_age_cat"] == "25 - 45", "people"].sum()),
        "moved_with_1_to_3_priors": float(
            moves.loc[moves["from_priors"] == "1 to 3", "people"].sum()
        ),
        "rejected": result.verdict == "rejected",
    }


def privilege(splits: int = 50) -> pd.DataFrame:
    """Return `privilege_of_split` for the first splits, one a row.

    Parameters
    ----------
    splits
        How many; the paper's are 50.
    """
    import pandas as pd

    seeds = track(range(splits), splits, "Splits")
    return pd.DataFrame([privilege_of_split(seed) for seed in seeds])
