"""No arithmetic on a shared document gives the audit data back, with the model to ask."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from tests.audits.inversion import all_counts, invert, known_sums, limits

import fairtransport as ft
from fairtransport.report import render
from fairtransport.report.charts.specs import chart_specs

SHAPES = {4: (2, 1, 1), 12: (3, 2, 1), 36: (3, 2, 3)}
LOSSES = ("brier", "log", "absolute", "zero-one")
NAMES = ("race", "sex", "job")


def audit_counts(counts, cells, loss, seed=0, **options):
    """Audit a model with scores of its own for every profile, on counts of people."""
    shape = SHAPES[cells]
    rng = np.random.default_rng(seed)
    slopes = [rng.normal(size=levels) for levels in shape]
    middle = sum(slope.mean() for slope in slopes)
    points = pd.DataFrame(list(product(*map(range, shape), (0, 1))), columns=[*NAMES, "good"])

    def model(people):
        score = sum(
            slope[people[name].to_numpy(int)] for slope, name in zip(slopes, NAMES, strict=True)
        )
        chance = 1 / (1 + np.exp(-score))
        if loss == "zero-one":
            return (score > middle).astype(int)
        return chance if loss == "absolute" else np.column_stack([1 - chance, chance])

    # zero people keep their place: the attacker knows the space, as it was declared
    return ft.audit(
        points.assign(count=counts)[counts > 0], "good", counts="count", model=model, loss=loss,
        features=list(NAMES), sensitive_features=["race", "sex"], rng=0,
        levels={"race": list(range(shape[0])), "sex": list(range(shape[1]))},
        loss_range=(0, 1) if loss == "absolute" else None, n_resamples=200, **options,
    )  # fmt: skip


SHARED_SEEDS = {(12, 50): 7, (36, 300): 3}
"""Seeds with which enough room is left in small cells for a document; 1 elsewhere."""


def shared_counts(cells, n):
    """Return counts that can be shared, of more people in small cells than are merged."""
    return uneven_counts(cells, n, SHARED_SEEDS.get((cells, n), 1))


def uneven_counts(cells, n, seed):
    rng = np.random.default_rng([seed, cells, n])
    return rng.multinomial(n, rng.dirichlet(np.full(cells, 1.5)))


def in_full_precision(document, result):
    """Return a shared document whose sums are not rounded."""
    whole = result.summary
    people = {str((move.from_profile, move.label)): move.people for move in whole.moves}
    sizes = {str(group.group): group.people for group in whole.groups}
    return replace(
        document, statistic=whole.statistic, baseline_risk=whole.baseline_risk,
        methods=whole.methods, moved=whole.moved, suppression=None,
        moves=tuple(
            replace(move, people=people[str((move.from_profile, move.label))])
            for move in document.moves
        ),
        groups=tuple(
            replace(group, people=group.people and sizes[str(group.group)])
            for group in document.groups
        ),
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES[:3])
@pytest.mark.parametrize("seed", range(3, 7))
def test_exact_numbers_give_every_cell_back_and_rounded_ones_do_not(loss, seed):
    counts = uneven_counts(36, 200, seed)
    result = audit_counts(counts, 36, loss, seed)
    document = result.document(5)

    assert invert(in_full_precision(document, result), result).tolist() == list(result.space.counts)
    assert not np.array_equal(invert(document, result), result.space.counts)


SIZES = [pytest.param(n, marks=pytest.mark.slow if n > 50 else ()) for n in (50, 300, 5000)]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("cells", SHAPES)
def test_no_lattice_finds_the_counts_at_any_size(cells, n, loss):
    result = audit_counts(shared_counts(cells, n), cells, loss)
    assert not np.array_equal(invert(result.document(5), result), result.space.counts)


def few_cells(result, at_least):
    counts = result.space.counts
    return np.flatnonzero((counts > 0) & (counts < at_least))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("cells", [12, 36])
def test_whole_number_programs_leave_a_small_cell_open(cells, n, loss):
    result = audit_counts(shared_counts(cells, n), cells, loss)
    known = known_sums(result.document(5), result)

    assert known.allows(result.space.counts).all()
    for cell in few_cells(result, 5)[:6]:
        fewest, most = limits(known, cell)
        assert fewest == 0
        assert most >= 5


TINY = [
    (30, 5, [0, 17, 12, 1]),
    (50, 3, [1, 8, 2, 39]),
    (30, 3, [26, 0, 2, 2]),
    (50, 5, [2, 36, 1, 11]),
]


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["brier", "zero-one"])
@pytest.mark.parametrize(("n", "at_least", "counts"), TINY)
def test_in_a_tiny_space_no_small_cell_has_but_one_size(n, at_least, counts, loss):
    """All counts that agree with the document are tried, and the documents are compared."""
    result = audit_counts(np.array(counts), 4, loss)
    document = result.document(at_least)
    possible = all_counts(4, n)
    possible = possible[known_sums(document, result).allows(possible)]
    possible = possible[(possible[:, ::2].any(axis=1)) & (possible[:, 1::2].any(axis=1))]
    # those that are nearest in the small cells are the most like it
    small = few_cells(result, at_least)
    near = np.argsort(np.abs(possible - counts).sum(axis=1), kind="stable")[:25]
    same = [
        other
        for other in possible[near]
        if audit_counts(other, 4, loss).document(at_least) == document
    ]
    assert len(same) > 1
    sizes = np.array(same)[:, small]
    assert (sizes.min(axis=0) < sizes.max(axis=0)).all()


def numbers_in(plain):
    """Return all numbers of a nested document that are not whole."""
    if isinstance(plain, dict | list):
        parts = plain.values() if isinstance(plain, dict) else plain
        return [number for part in parts for number in numbers_in(part)]
    return [plain] if isinstance(plain, float) and plain % 1 else []


def test_charts_and_text_have_the_rounded_numbers_and_no_others():
    result = audit_counts(shared_counts(36, 300), 36, "brier", delta=0.01)
    document = result.document(5)
    page, text = render(document, "html"), render(document, "markdown")
    charts = numbers_in(chart_specs(document))
    step = document.suppression.step

    assert step == 0.05
    for number in (document.statistic, document.baseline_risk, document.lower_bound):
        assert number / step == pytest.approx(round(number / step)) or number == 0.01
    whole = result.summary
    exact = (whole.statistic, whole.baseline_risk, whole.lower_bound, whole.upper_bound)
    for number in exact:
        assert not any(abs(number - one) < 1e-6 for one in charts)
        for digits in (6, 12):
            assert f"{number:.{digits}f}" not in page
            assert f"{number:.{digits}f}" not in text
            assert f"{number:.{digits}f}" not in document.to_json()
