"""COMPAS audited as the paper does: models of a split, the instrument itself, lines of Table 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtransport._core.progress import track
from fairtransport.audits import AuditResult, audit
from fairtransport.datasets.compas import (
    DELTA,
    FEATURES,
    LABEL,
    LEVELS,
    SENSITIVE,
    load_compas,
    logistic_regression,
    split_compas,
)
from fairtransport.explain.groups import group_metrics
from fairtransport.explain.moves import Profiles, format_group

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from fairtransport._core.validation import FloatArray
    from fairtransport.reproduce.methods import Model


N_RESAMPLES = 1000
ORDERS = {
    "age_cat": ["Less than 25", "25 - 45", "Greater than 45"],
    "priors": ["0", "1 to 3", "More than 3"],
}


def audit_model(model: object, people: pd.DataFrame, seed: int) -> AuditResult:
    """Audit as in the paper: with all twins, and the bootstrap is m out of n."""
    return audit(
        people[[*FEATURES, LABEL]],
        LABEL,
        model=model,
        features=list(FEATURES),
        sensitive_features=list(SENSITIVE),
        levels=LEVELS,
        delta=DELTA,
        method="m-out-of-n",
        n_resamples=N_RESAMPLES,
        rng=seed,
    )


REFERENCE = {"race": "Caucasian"}
"""The group that others are compared with in the group metrics of the demo."""


IN_WORDS = {0: "no rearrest", 1: "rearrest"}
"""The labels as the demo names them."""
CHARGES = {"F": "felony", "M": "misdemeanor"}
"""The charges as the demo names them."""


def audit_of_split(seed: int = 0, labels: Mapping[int, str] | None = None) -> AuditResult:
    """Audit the logistic regression of one 70/30 split on the people it was not trained on.

    ``labels`` names the labels, and charges then have names too; default: 0 and 1.
    """
    split = split_compas(seed)
    training, people = split.training, split.audit
    if labels is not None:
        training, people = (
            one.assign(**{LABEL: one[LABEL].map(labels), "charge": one["charge"].map(CHARGES)})
            for one in (training, people)
        )
    return audit(
        _in_order(people.drop(columns="high_risk")),
        LABEL,
        model=logistic_regression(training),
        sensitive_features=list(SENSITIVE),
        levels=LEVELS,
        delta=DELTA,
        rng=seed,
        favourable=0 if labels is None else labels[0],
    )


def _in_order(people: pd.DataFrame) -> pd.DataFrame:
    """Return the people with ages and prior crimes in their natural order, for tables."""
    import pandas as pd

    return people.assign(
        **{name: pd.Categorical(people[name], levels) for name, levels in ORDERS.items()}
    )


PROTECTED, PRIVILEGED = "race", "Caucasian"
FAVOURABLE = 0
"""No rearrest, the favourable label."""


FULL_CODING = {
    "female": ("sex", "Female"),
    "race": ("race", PRIVILEGED),
    "age < 25": ("age_cat", "Less than 25"),
    "age 25 to 45": ("age_cat", "25 - 45"),
    "age > 45": ("age_cat", "Greater than 45"),
    "no priors": ("priors", "0"),
    "1 to 3 priors": ("priors", "1 to 3"),
    "> 3 priors": ("priors", "More than 3"),
    "felony": ("charge", "F"),
    "misdemeanor": ("charge", "M"),
}
"""Every level has its own column, as in AIF360's preprocessed COMPAS; race 1: Caucasian."""


SELECTABLE = ("no priors", "> 3 priors", "race", "age > 45", "misdemeanor", "age < 25", "female")
"""The columns of the paper's Figure 4: people of 25 to 45 with 1 to 3 priors and a felony are
the reference."""


def encode_people(
    people: pd.DataFrame, columns: tuple[str, ...] = tuple(FULL_CODING)
) -> pd.DataFrame:
    """Return 0/1 columns for people's features."""
    import pandas as pd

    sources = {name: FULL_CODING[name] for name in columns}
    return pd.DataFrame(
        {name: (people[column] == level).astype(float) for name, (column, level) in sources.items()}
    )


def encode_labelled_people(people: pd.DataFrame) -> pd.DataFrame:
    """Return the coded people with their label, in one frame of numbers as AIF360 requires.

    People without a label, for whom a model is only queried, get 0 for it.
    """
    labels = people[LABEL].astype(float) if LABEL in people else 0.0
    return encode_people(people).assign(**{LABEL: labels}).reset_index(drop=True)


COLUMNS = {
    "faith": "FaiTH",
    "ci2_lower": "CI2 lower",
    "ci2_upper": "CI2 upper",
    "ci1_lower": "CI1 lower",
    "accuracy": "Accuracy",
    "aod": "AOD",
    "eod": "EOD",
    "spd": "SPD",
}
"""The columns of Table 1 and their titles. CI2 is the two-sided interval, CI1 the one-sided one;
AOD, EOD and SPD compare the odds, opportunity and share of the label 0 between races,
African-American minus Caucasian."""


def evaluate(model: Model, people: pd.DataFrame, seed: int) -> dict[str, float | None]:
    """Return the eight figures of a model on the audit people."""
    result = audit_model(model, people, seed)
    answer = getattr(model, "predict", model)
    metrics = group_metrics(
        people[LABEL].to_numpy(),
        answer(people[list(FEATURES)]),
        people[PROTECTED].tolist(),
        favourable=FAVOURABLE,
        privileged=PRIVILEGED,
    )
    return {
        "faith": result.statistic,
        "ci2_lower": result.interval.lower,
        "ci2_upper": result.interval.upper,
        "ci1_lower": result.lower_bound,
        "accuracy": metrics.accuracy,
        "aod": metrics.average_odds_difference,
        "eod": metrics.equal_opportunity_difference,
        "spd": metrics.statistical_parity_difference,
    }


WHITE_WOMEN, BLACK_MEN = "Caucasian, Female", "African-American, Male"


def audit_instrument(seed: int = 0) -> AuditResult:
    """Audit the published scores (5 or more of 10: high risk), with predictions only.

    The scores use more than the five features here, so that one profile has different predictions;
    `AuditResult.disagreement` is the part of the statistic due to this.
    """
    return audit(
        load_compas(), LABEL, y_pred="high_risk", counts="count", delta=DELTA, rng=seed,
        sensitive_features=list(SENSITIVE), favourable=0,
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
        # a profile without people gets the overall share
        profiles = points.set_index(keys).index
        return rates.reindex(profiles).fillna(overall).to_numpy()

    return audit(
        counts.drop(columns="high_risk"), LABEL, model=rate, counts="count", loss="absolute",
        features=keys, sensitive_features=list(SENSITIVE), loss_range=(0, 1), rng=0,
    )  # fmt: skip


def errors_as(result: AuditResult) -> pd.DataFrame:
    """Count for each group who is classified correctly but would not be as one of that group.

    Unlike the flows this does not depend on which of several equally bad twins a plan uses.
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
            "group": format_group(profiles.group(int(first))),
            "people": int(space.counts[right & (labels == label) & worst[block, at]].sum()),
        }
        for label in sorted(set(labels.tolist()))
        for at, first in enumerate(firsts)
    ]
    return pd.DataFrame(rows)


def privilege_of_split(seed: int) -> dict[str, float | bool]:
    """Return the paper's statements on the logistic regression's moves, for one split.

    Keys: whether reoffenders would be misclassified as white women, and others as black men,
    at least as often as as members of any other group; how many people of 25 to 45 years and
    with 1 to 3 prior crimes are moved; the verdict.
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
    """Return `privilege_of_split` for the first splits, one per row."""
    import pandas as pd

    seeds = track(range(splits), splits, "Splits")
    return pd.DataFrame([privilege_of_split(seed) for seed in seeds])
