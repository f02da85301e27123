"""A summary like that of COMPAS, made by hand, and one whose every string is an attack."""

from dataclasses import replace
from itertools import product
from math import exp

from fairtransport.documents.audit import (
    SCHEMA,
    AttributablePart,
    AuditSummary,
    CostRule,
    CurvePoint,
    FeatureRole,
    GroupComparison,
    GroupRate,
    Law,
    LawBin,
    Limits,
    MethodLimits,
    Provenance,
    RateTable,
    SampledUnits,
)
from fairtransport.documents.comparison import (
    COMPARISON_SCHEMA,
    ComparedModel,
    ComparisonSummary,
    Difference,
    TreatedGroup,
    TreatedProfile,
)
from fairtransport.documents.family import FAMILY_SCHEMA, FamilySummary, Member
from fairtransport.explain.decisions import (
    DecisionCase,
    DecisionChange,
    DecisionCounts,
    Decisions,
    FeatureDecisions,
    LabelDecisions,
    ShareOfPeople,
)
from fairtransport.explain.disclosure import Suppression
from fairtransport.explain.flows import Flow, FlowTable, GroupFlow
from fairtransport.explain.moves import Move, WorstPair

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


def rate_tables():
    """Two rates by race: one with a group that nobody is in, and one without an upper end."""
    black, white = {"race": "African-American"}, {"race": "Caucasian"}
    return (
        RateTable(
            kind="selection", label=0, reference=white, confidence=0.95,
            groups=(
                GroupRate(
                    group=black, people=964, rate=0.495, lower=0.457, upper=0.533,
                    difference=-0.253, difference_lower=-0.311, difference_upper=-0.195,
                    ratio=0.662, ratio_lower=0.595, ratio_upper=0.732,
                ),
                GroupRate(group=white, people=620, rate=0.748, lower=0.706, upper=0.788),
            ),
        ),
        RateTable(
            kind="error-of-label", label=1, reference=white, confidence=0.95,
            groups=(
                GroupRate(
                    group=black, people=9, rate=0.2, lower=0.01, upper=0.6, difference=0.2,
                    difference_lower=-0.3, difference_upper=0.6, ratio=None, ratio_lower=0.1,
                ),
                GroupRate(group=white, people=3, rate=0.0, lower=0.0, upper=0.7),
                GroupRate(group={"race": None}, people=0, rate=None),
            ),
        ),
    )  # fmt: skip


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


def _share(people, lower, upper):
    return ShareOfPeople(
        people=people, share=people / 1584, lower=lower, upper=upper, level=0.95,
        scope="levels seen",
    )  # fmt: skip


def _counts(people, worse, better=0, **group):
    return DecisionCounts(
        group=group, people=people, changed=worse + better, worse_off=worse, better_off=better
    )


def _case(swap, people, effect, labels, *, is_observed=True):
    age, priors, charge, decision, source, target = swap
    before, after = (_profile(age, priors, charge, group) for group in (source, target))
    return DecisionCase(
        profile=before, people=people, labels=labels, decision=decision, alternative=1 - decision,
        changes={name: after[name] for name in ("race", "sex") if before[name] != after[name]},
        effect=effect, is_observed=is_observed,
    )  # fmt: skip


def _decisions():
    black, white, female, male = (
        {"race": RACES[0]}, {"race": RACES[1]}, {"sex": SEXES[0]}, {"sex": SEXES[1]}
    )  # fmt: skip
    return Decisions(
        favourable=(0,),
        n=1584,
        alternatives=3,
        random_share=0.0391,
        changed=_share(143, 0.0766, 0.1055),
        worse_off=_share(134, 0.0713, 0.0994),
        better_off=_share(9, 0.0026, 0.0108),
        changes=(
            DecisionChange(decision=1, alternative=0, count=_share(134, 0.0713, 0.0994)),
            DecisionChange(decision=0, alternative=1, count=_share(9, 0.0026, 0.0108)),
        ),
        by_feature=(
            FeatureDecisions(
                feature="race", total=_counts(1584, 5, 2),
                groups=(_counts(964, 5, 0, **black), _counts(620, 0, 2, **white)),
            ),
            FeatureDecisions(
                feature="sex", total=_counts(1584, 60, 7),
                groups=(_counts(315, 0, 7, **female), _counts(1269, 60, 0, **male)),
            ),
        ),
        only_together=_counts(1584, 69),
        by_group=(
            _counts(964, 95, 2, **black), _counts(620, 39, 7, **white),
            _counts(315, 0, 9, **female), _counts(1269, 134, 0, **male),
            _counts(806, 95, 0, **black, **male), _counts(463, 39, 0, **white, **male),
        ),
        by_label=(
            LabelDecisions(
                label=0, total=_counts(834, 55, 5),
                groups=(_counts(463, 40, 1, **black), _counts(635, 53, 0, **male)),
            ),
            LabelDecisions(
                label=1, total=_counts(750, 79, 4),
                groups=(_counts(501, 55, 1, **black), _counts(634, 79, 0, **male)),
            ),
        ),
        cases=(
            _case(("Greater than 45", "More than 3", "F", 1, (0, 1), (1, 0)), 46, "worse off",
                  {"0": 23, "1": 23}),
            _case(("Greater than 45", "More than 3", "F", 1, (1, 1), (1, 0)), 24, "worse off",
                  {"0": 8, "1": 16}),
            _case(("Less than 25", "1 to 3", "M", 1, (0, 1), (1, 0)), 23, "worse off",
                  {"0": 4, "1": 19}, is_observed=False),
            _case(("Less than 25", "1 to 3", "M", 0, (1, 0), (1, 1)), 9, "better off",
                  {"0": 5, "1": 4}),
        ),
    )  # fmt: skip


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
        n=n, units=None,
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
        about="population",
        interval=Limits(0.0491, 0.0735),
        lower_bound=0.0508,
        upper_bound=0.0711,
        pvalue=3.2e-6,
        verdict="rejected",
        applicability=None,
        advice=None,
        next_audit=None,
        judge="statistic",
        favourable=0,
        decisions=_decisions(),
        decisions_missing=None,
        attributable=AttributablePart(
            value=statistic, same_group=0.0, interval=Limits(0.0491, 0.0735), lower_bound=0.0508,
            upper_bound=0.0711, pvalue=3.2e-6, verdict="rejected",
        ),
        outlook=None,
        controls=None,
        controls_advice=None,
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
        flows=tuple(_flows(feature, moves) for feature in LEVELS),
        groups=tuple(
            GroupFlow({"race": race, "sex": sex}, 396.0, out, into, into - out, out / n, 0.3, 0.4)
            for (race, sex), out, into in zip(
                product(RACES, SEXES), (15.0, 31.0, 7.0, 43.0), (0.0, 42.0, 54.0, 0.0), strict=True
            )
        ),
        group_metrics=(
            GroupComparison(
                ("race",), 0, {"race": "Caucasian"}, 0.666,
                {"African-American": 0.651, "Caucasian": 0.688},
                -0.26, -0.19, -0.23, None, None, rate_tables(),
            ),
            GroupComparison(
                ("sex",), None, None, 0.666, {"Female": 0.7, "Male": None},
                None, None, None, 0.21, 0.18, (),
            ),
        ),
        worst_pair=None,
        budget_in_words="The budget has no effect.",
        budget_curve=(CurvePoint(0.0, statistic),),
        costs=(),
        without_feature=(FeatureRole("race", 0.0246, 0.5357), FeatureRole("sex", 0.0, None)),
        law=_law(statistic),
        warnings=(
            "Copies have the values of race, sex that occur in the data (`levels`).",
        ),
        suppression=None,
        provenance=Provenance(
            version="0.1.0",
            libraries={"numpy": "2.4.0", "scikit-learn": "1.9.0"},
            seed=0,
            data_sha256="9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            similarity=(
                "Two people are similar if they differ only in the sensitive features and, if "
                "true labels are used, have the same one. Their distance is 0."
            ),
            similarity_record={"name": "ignore-sensitive", "settings": {"exact": []}},
            loss="zero-one",
            pos_label=None,
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
        decisions=None,
        decisions_missing="The model answers at random.",
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
        budget_in_words="On average, people may differ by the equivalent of 0.5 of age.",
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

    def grouped(rows):
        return tuple(replace(row, group=attacked(row.group)) for row in rows)

    def decided(decisions):
        return replace(
            decisions, favourable=(attack("label 0"),),
            changes=tuple(
                replace(one, decision=attack("label 1"), alternative=attack("label 0"))
                for one in decisions.changes
            ),
            by_feature=tuple(
                replace(one, feature=attack(one.feature), groups=grouped(one.groups))
                for one in decisions.by_feature
            ),
            by_group=grouped(decisions.by_group),
            by_label=tuple(
                replace(one, label=attack(f"label {one.label}"), groups=grouped(one.groups))
                for one in decisions.by_label
            ),
            cases=tuple(
                replace(
                    one, profile=attacked(one.profile), changes=attacked(one.changes),
                    labels={attack(f"label {name}"): count for name, count in one.labels.items()},
                    decision=HOSTILE[0], alternative=HOSTILE[next(turn) % len(HOSTILE)],
                )
                for one in decisions.cases
            ),
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
        decisions=decided(whole.decisions),
        moves=tuple(map(swapped, whole.moves)),
        flows=tuple(map(flowed, whole.flows)),
        groups=tuple(replace(one, group=attacked(one.group)) for one in whole.groups),
        group_metrics=tuple(
            replace(
                one, features=tuple(map(attack, one.features)),
                reference={"race": attack("Caucasian")},
                accuracy_by_group={attack(name): 0.5 for name in one.accuracy_by_group},
                rates=tuple(
                    replace(
                        table, label=attack("label 1"), reference=attacked(table.reference),
                        groups=tuple(
                            replace(row, group=attacked(row.group)) for row in table.groups
                        ),
                    )
                    for table in one.rates
                ),
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


HOUSEHOLDS = SampledUnits(
    column="household", has_clusters=True, count=640, smallest=1.0, largest=6.0, limit=None,
    target="people",
)  # fmt: skip
EQUAL_HOUSEHOLDS = replace(HOUSEHOLDS, limit=1.0, target="clusters")
WEIGHTED = replace(
    EQUAL_HOUSEHOLDS, column="weight", has_clusters=False, limit=8.0, target="people",
    weights="weight",
)  # fmt: skip


def of_units(units):
    """Return an audit, a comparison and a family of people who were sampled in units."""
    members = tuple(replace(one, units=units) for one in family().members)
    return sample(units=units), comparison(units=units), family(members=members)


def family(**changes):
    """Return three audits together, each verdict once, and one without a threshold."""
    whole = sample(flows=(), law=None)
    known = {"model": "LogisticRegression(C=1.0)", "n": 1584, "units": None,
             "guarantee": "finite-sample", "changed": _decisions().changed}  # fmt: skip
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
        schema=FAMILY_SCHEMA, alpha=0.05, certificate_level=0.00625,
        members=members, queried=72, warnings=("scores: nothing can be certified from it.",),
        version="0.1.0", audits=(whole,) * len(members),
    )  # fmt: skip
    return replace(summary, **changes)


def hostile_family():
    """Return a family in which every string is an attack."""
    one = family().members[0]
    return family(
        members=tuple(replace(one, name=text, model=text) for text in HOSTILE),
        warnings=HOSTILE,
        version=HOSTILE[1],
        audits=(hostile(),) * len(HOSTILE),
    )


def comparison(**changes):
    """Return three models compared, each verdict once."""
    risks = {"baseline_risk": 0.335, "queried": 72, "model": "LogisticRegression",
             "decisions": replace(_decisions(), cases=())}  # fmt: skip
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
        schema=COMPARISON_SCHEMA, n=1584, units=None, points=144, target_scope="twins", budget=0.0,
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
