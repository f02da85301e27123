"""A summary like that of COMPAS, made by hand, and one whose every string is an attack."""

from dataclasses import replace
from itertools import product
from math import exp

from fairtransport.comparison_summary import (
    COMPARISON_SCHEMA,
    ComparedModel,
    ComparisonSummary,
    Difference,
    TreatedGroup,
    TreatedProfile,
)
from fairtransport.family import FAMILY_SCHEMA, FamilySummary, Member, Multiplied
from fairtransport.summary import (
    SCHEMA,
    Affected,
    AttributablePart,
    AuditSummary,
    CostRule,
    CurvePoint,
    Direction,
    FeatureRole,
    Flow,
    FlowTable,
    GroupComparison,
    GroupFlow,
    Law,
    LawBin,
    Limits,
    MethodLimits,
    Move,
    Provenance,
    Suppression,
    WorstPair,
)

RACES, SEXES = ("African-American", "Caucasian"), ("Female", "Male")
LEVELS = {
    "age_cat": ("Less than 25", "25 - 45", "Greater than 45"),
    "priors": ("0", "1 to 3", "More than 3"),
    "charge": ("F", "M"),
}
# age, priors, charge, label, from (race, sex), to (race, sex), people, tied
SWAPS = (
    ("Greater than 45", "More than 3", "F", 1, (0, 1), (1, 0), 31, False),
    ("Less than 25", "0", "M", 0, (1, 1), (0, 1), 24, False),
    ("Greater than 45", "More than 3", "F", 1, (1, 1), (1, 0), 19, False),
    ("Less than 25", "0", "F", 0, (0, 0), (0, 1), 11, False),
    ("Less than 25", "1 to 3", "M", 0, (1, 0), (0, 1), 7, True),
    ("Greater than 45", "More than 3", "M", 1, (0, 0), (1, 0), 4, True),
)


def _profile(age, priors, charge, group):
    return {
        "sex": SEXES[group[1]],
        "race": RACES[group[0]],
        "age_cat": age,
        "priors": priors,
        "charge": charge,
    }


def _move(age, priors, charge, label, source, target, people, tied):
    before, after = (_profile(age, priors, charge, group) for group in (source, target))
    return Move(
        from_profile=before,
        to_profile=after,
        changed=tuple(name for name in before if before[name] != after[name]),
        label=label,
        people=float(people),
        prediction=label,
        prediction_after=1 - label,
        loss=0.0,
        loss_after=1.0,
        cost=0.0,
        tied=tied,
    )


def _flows(feature, moves):
    cells = []
    for label, level, race, sex in product((0, 1), LEVELS[feature], RACES, SEXES):
        group = {"race": race, "sex": sex}

        def count(side, label=label, level=level, group=group):
            return sum(
                move.people
                for move in moves
                if move.label == label
                and getattr(move, side)[feature] == level
                and all(getattr(move, side)[name] == value for name, value in group.items())
            )

        out, into = count("from_profile"), count("to_profile")
        size = 20.0 + 10 * len(race) + 5 * len(level) + out
        change = into - out
        cells.append(
            Flow(label, level, group, size, out, into, change, change - 9.5, change + 9.5,
                 0.004 if change else 1.0)
        )  # fmt: skip
    return FlowTable(feature, "simultaneous intervals", tuple(cells))


def _law(centre):
    width = 0.002
    bins = []
    for at in range(-12, 12):
        left = centre + at * width
        middle = (at + 0.5) / 4
        bins.append(LawBin(left, left + width, round(50 * exp(-(middle**2) / 2), 6)))
    return Law("m-out-of-n", tuple(bins))


def sample(**changes):
    """Return a summary with some of its fields changed."""
    moves = tuple(_move(*swap) for swap in SWAPS)
    moved = sum(move.people for move in moves)
    n = 1584
    statistic = moved / n
    summary = AuditSummary(
        schema=SCHEMA,
        statistic=statistic,
        baseline_risk=0.334,
        worst_case_risk=0.334 + statistic,
        n=n,
        points=142,
        observed_points=131,
        queried=72,
        target_scope="twins",
        budget=0.0,
        price=0.0,
        price_interval=Limits(0.0, None),
        delta=0.0365,
        alpha=0.05,
        method="finite-sample",
        guarantee="finite-sample",
        interval=Limits(0.0491, 0.0735),
        lower_bound=0.0508,
        upper_bound=0.0711,
        pvalue=3.2e-6,
        verdict="rejected",
        applicability=None,
        instead=None,
        ready=(),
        judge="statistic",
        favourable=None,
        attributable=AttributablePart(
            value=statistic, same_group=0.0, interval=Limits(0.0491, 0.0735), lower_bound=0.0508,
            upper_bound=0.0711, pvalue=3.2e-6, verdict="rejected",
        ),
        outlook=None,
        rates=None,
        random_swap_risk=0.341,
        comparable_share=1.0,
        certificate_pvalue=1.0,
        evalue=1234.5,
        methods=(
            MethodLimits("finite-sample", "finite-sample", 0.0491, 0.0735, 0.0508, 0.0711),
            MethodLimits("limit-law", "asymptotic", 0.0489, 0.0723, 0.0508, 0.0704),
            MethodLimits("m-out-of-n", "asymptotic", 0.0475, 0.0719, 0.0499, 0.0699),
        ),
        plan_is_unique=False,
        duality_gap=0.0,
        disagreement=0.0,
        moved=moved,
        moves_found=len(moves),
        moves=moves,
        directions=(
            Direction("race", "Caucasian", "African-American", 54.0, 54 / n, per_person=0.09,
                      back_at_most=12 / n),
            Direction("sex", "Male", "Female", 42.0, 42 / n, per_person=0.03, back_at_most=0.0),
            Direction("race", "African-American", "Caucasian", 12.0, 12 / n, per_person=0.01,
                      back_at_most=54 / n),
        ),
        flows=tuple(_flows(feature, moves) for feature in LEVELS),
        most_affected=tuple(
            Affected(
                move.to_profile, move.label, move.people + 3, move.people, 1.0, move.people / n
            )
            for move in moves[:4]
        ),
        groups=tuple(
            GroupFlow({"race": race, "sex": sex}, 396.0, out, into, into - out, out / n, 0.3, 0.4)
            for (race, sex), out, into in zip(
                product(RACES, SEXES), (15.0, 31.0, 7.0, 43.0), (0.0, 42.0, 54.0, 0.0), strict=True
            )
        ),
        group_metrics=(
            GroupComparison(
                "race", 0, "Caucasian", 0.666, {"African-American": 0.651, "Caucasian": 0.688},
                -0.26, -0.19, -0.23, None, None,
            ),
            GroupComparison(
                "sex", None, None, 0.666, {"Female": 0.7, "Male": None},
                None, None, None, 0.21, 0.18,
            ),
        ),
        worst_pair=None,
        budget_in_words="Moves are free or not allowed, so the budget does not matter.",
        budget_curve=(CurvePoint(0.0, statistic),),
        costs=(),
        without_feature=(FeatureRole("race", 0.0246, 0.5357), FeatureRole("sex", 0.0, None)),
        law=_law(statistic),
        warnings=(
            "Twins take the levels of race, sex that occur in the data; declare `levels`.",
        ),
        suppression=None,
        provenance=Provenance(
            version="0.1.0",
            libraries={"numpy": "2.4.0", "scikit-learn": "1.9.0"},
            seed=0,
            data_sha256="9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            similarity=(
                "Two people are comparable when they differ in nothing but the sensitive features "
                "and have the same true label; moving between them is free."
            ),
            similarity_record={"name": "ignore-sensitive", "settings": {"exact": []}},
            loss="zero-one",
            loss_range=(0.0, 1.0),
            loss_is_error=True,
            model="LogisticRegression(C=1.0)",
            features=("sex", "race", "age_cat", "priors", "charge"),
            sensitive=("race", "sex"),
            label="two_year_recid",
            resamples=2000,
        ),
    )  # fmt: skip
    return replace(summary, **changes)


def with_budget():
    """Return a summary with distances, a budget, scores, and no upper bound."""
    whole = sample()
    moves = tuple(
        replace(
            move, prediction=(0.3, 0.7), prediction_after=(0.55, 0.45), loss=0.3567, loss_after=0.8,
            cost=0.25, people=move.people / 2,
        )
        for move in whole.moves
    )  # fmt: skip
    return replace(
        whole,
        verdict="inconclusive",
        lower_bound=0.0312,
        upper_bound=None,
        interval=Limits(0.0291, None),
        pvalue=0.21,
        target_scope="observed",
        attributable=AttributablePart(
            value=0.0302, same_group=0.0304, interval=Limits(None, None), lower_bound=None,
            upper_bound=None, pvalue=None, verdict="inconclusive",
        ),
        random_swap_risk=None,
        queried=0,
        budget=0.01,
        price=1.7,
        price_interval=Limits(1.7, 2.4),
        disagreement=0.0041,
        methods=(
            MethodLimits("finite-sample", "finite-sample", 0.0291, None, 0.0312, None),
            MethodLimits("limit-law", "asymptotic", 0.04, None, 0.041, None),
        ),
        moves=moves,
        flows=tuple(
            replace(
                table,
                kind="descriptive",
                cells=tuple(
                    replace(cell, lower=None, upper=None, pvalue=None) for cell in table.cells
                ),
            )
            for table in whole.flows
        ),
        worst_pair=WorstPair(
            moves[0].from_profile, moves[0].to_profile, (0.3, 0.7), (0.9, 0.1), 0.5, 1.2
        ),
        budget_in_words="On average, people may be moved by the equivalent of 0.5 of age.",
        costs=(CostRule("age", "5", "1 (grows with the square)"), CostRule("sex", "any", "free")),
        budget_curve=(
            CurvePoint(0.0, 0.02), CurvePoint(0.004, 0.05), CurvePoint(0.01, 0.0606),
            CurvePoint(0.03, 0.08), CurvePoint(0.09, 0.1),
        ),
        provenance=replace(whole.provenance, loss="log", loss_is_error=False, data_sha256=None,
                           similarity_record=None),
        suppression=Suppression(at_least=5, step=0.01, moved_hidden=10.0),
    )  # fmt: skip


HOSTILE = (
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 2</script>",
    '"><img src=x onerror="window.hacked=3">',
    "=cmd|' /C calc'!A0",
    "{{7*7}} {% raw %} ${7*7}",
    "\u202egnp.exe\u202c \u2066x\u2069 \u200e\u200f\u061c",
    "a|b`c`\n| d | <b>e</b> [x](javascript:alert(1)) \\| ~~f~~",
    "' onmouseover='window.hacked=4",
    "line\u2028separator\u2029 \x00\x07\x1b[31m \ud800",
    "x" * 10_000,
    "very long words " * 700,
    "<!-- --> ]]> &lt; &amp; &#x3c;",
)


def hostile():
    """Return a summary in which every name, level, label and note is an attack."""
    whole = sample()
    turn = iter(range(10**6))

    def attack(value):
        if value is None or isinstance(value, bool | int | float):
            return value
        return HOSTILE[hash_of(value) % len(HOSTILE)] + f" {hash_of(value) % 97}"

    def hash_of(value):
        return sum(map(ord, str(value)))

    def attacked(profile):
        return {attack(name): attack(value) for name, value in profile.items()}

    def swapped(move):
        return replace(
            move, from_profile=attacked(move.from_profile), to_profile=attacked(move.to_profile),
            changed=tuple(map(attack, move.changed)), label=attack(f"label {move.label}"),
            prediction=HOSTILE[0], prediction_after=HOSTILE[next(turn) % len(HOSTILE)],
        )  # fmt: skip

    def flowed(table):
        cells = tuple(
            replace(
                cell, label=attack(f"label {cell.label}"), level=attack(cell.level),
                group=attacked(cell.group),
            )
            for cell in table.cells
        )  # fmt: skip
        return replace(table, feature=attack(table.feature), cells=cells)

    return replace(
        whole,
        moves=tuple(map(swapped, whole.moves)),
        flows=tuple(map(flowed, whole.flows)),
        most_affected=tuple(
            replace(one, profile=attacked(one.profile), label=attack("label 1"))
            for one in whole.most_affected
        ),
        groups=tuple(replace(one, group=attacked(one.group)) for one in whole.groups),
        group_metrics=tuple(
            replace(
                one, feature=attack(one.feature), privileged=attack("Caucasian"),
                accuracy_by_group={attack(name): 0.5 for name in one.accuracy_by_group},
            )
            for one in whole.group_metrics
        ),
        worst_pair=WorstPair(
            attacked(whole.moves[0].from_profile), attacked(whole.moves[0].to_profile),
            HOSTILE[0], HOSTILE[2], 0.5, 1.2,
        ),
        budget_in_words=HOSTILE[0],
        costs=tuple(CostRule(text, text, text) for text in HOSTILE),
        without_feature=tuple(FeatureRole(text, 0.1, 0.5) for text in HOSTILE),
        warnings=HOSTILE,
        provenance=replace(
            whole.provenance,
            libraries={HOSTILE[0]: HOSTILE[1]}, similarity=HOSTILE[2], loss=HOSTILE[0],
            loss_is_error=False, model=HOSTILE[9], features=HOSTILE, sensitive=HOSTILE[:3],
            label=HOSTILE[1],
        ),
    )  # fmt: skip


def family(**changes):
    """Return three audits together, each verdict once, and one without a threshold."""
    whole = sample(flows=(), law=None)
    known = {"model": "LogisticRegression(C=1.0)", "n": 1584, "guarantee": "finite-sample"}
    members = (
        Member(
            name="everybody", statistic=0.0606, lower=0.0452, upper=0.0791, delta=0.0365,
            pvalue=0.0004, pvalue_adjusted=0.0012, verdict="rejected", **known,
        ),
        Member(
            name="by race", statistic=0.0038, lower=0.0009, upper=0.0104, delta=0.0365,
            pvalue=1.0, pvalue_adjusted=1.0, verdict="certified", **known,
        ),
        Member(
            name="scores", statistic=0.0453, lower=0.031, upper=None, delta=0.04,
            pvalue=0.2, pvalue_adjusted=0.4, verdict="inconclusive", **known,
        ),
        Member(
            name="no δ", statistic=0.02, lower=0.01, upper=0.03, delta=None,
            pvalue=None, pvalue_adjusted=None, verdict=None, **known,
        ),
    )  # fmt: skip
    summary = FamilySummary(
        schema=FAMILY_SCHEMA, alpha=0.05, intervals_miss=0.05, certificate_level=0.00625,
        members=members, queried=72, warnings=("scores: nothing can be certified from it.",),
        version="0.1.0", audits=(whole,) * len(members),
    )  # fmt: skip
    return replace(summary, **changes)


def hostile_family():
    """Return a family in which every string is an attack, evidence multiplied."""
    one = family().members[0]
    return family(
        members=tuple(replace(one, name=text, model=text, evalue=3.0) for text in HOSTILE),
        multiplied=Multiplied(hypothesis=HOSTILE[0], evalue=1e9, pvalue=1e-9, rejected=True),
        warnings=HOSTILE,
        version=HOSTILE[1],
        audits=(hostile(),) * len(HOSTILE),
    )


def comparison(**changes):
    """Return three models compared, each verdict once."""
    risks = {"baseline_risk": 0.335, "queried": 72, "model": "LogisticRegression"}
    models = tuple(
        ComparedModel(
            name=name,
            statistic=value,
            lower=value - 0.012,
            upper=value + 0.014,
            worst_case_risk=0.335 + value,
            **risks,
        )
        for name, value in (("old", 0.053), ("plain", 0.071), ("new", 0.021))
    )
    differences = (
        Difference("old", "plain", 0.018, 0.0101, 0.0262, 0.0004, "worse", not_worse=False),
        Difference("old", "new", -0.032, -0.041, -0.0203, 0.0002, "better", not_worse=True),
        Difference("plain", "new", -0.05, -0.21, 0.004, 0.09, "undecided", not_worse=True),
    )
    group = {"race": "African-American", "sex": "Male"}
    summary = ComparisonSummary(
        schema=COMPARISON_SCHEMA, n=1584, points=144, target_scope="twins", budget=0.0,
        tolerance=0.005, alpha=0.05, verdict="better", applicability=None, not_worse=True,
        models=models,
        differences=differences, groups=(TreatedGroup(group, 720, 0.06, 0.02),),
        profiles=(TreatedProfile({**group, "priors": "0"}, 1, 41, 41.0, 0.0),),
        warnings=("plain: its statistic is 0 by construction.",),
        provenance=sample().provenance,
    )  # fmt: skip
    return replace(summary, **changes)


def hostile_comparison():
    """Return a comparison in which every string is an attack."""
    whole, names = comparison(), HOSTILE
    model, pair = whole.models[0], whole.differences[0]
    profiles = tuple(
        TreatedProfile({text: text}, text, 3, 1.5, 0.25) for text in names
    )  # fmt: skip
    return replace(
        whole,
        models=tuple(replace(model, name=text, model=text) for text in names),
        differences=tuple(replace(pair, first=names[0], second=text) for text in names[1:]),
        groups=tuple(TreatedGroup({text: text}, 3, 0.5, 0.25) for text in names),
        profiles=profiles,
        warnings=names,
        provenance=hostile().provenance,
    )


OWN_NAMES = (
    "constructor", "toString", "__proto__", "hasOwnProperty", "valueOf", "prototype", "length",
    "a.b[0]", "it's \"quoted\"", "datum['x']", "\\n",
)  # fmt: skip
"""Names that objects, fields and expressions of a browser's language have, or end."""


def own_names():
    """Return a summary whose flows are by levels, groups and labels with such names."""
    whole = sample()
    cells = tuple(
        Flow(label, level, {"race": group}, 20.0, 0.0, 0.0, float(at - 5))
        for label in ("constructor", "__proto__")
        for at, level in enumerate(OWN_NAMES)
        for group in ("toString", "valueOf", "a.b")
    )
    return replace(whole, flows=(FlowTable("constructor", "descriptive", cells),))
