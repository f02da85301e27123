"""Random audit problems, with everything in them that can go wrong; and a real browser."""

import os
import shutil

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from fairtransport import AuditProblem

# in CI the same examples every time; elsewhere new ones are worth having
settings.register_profile("fairtransport", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("fairtransport")

CHROMIUM = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
COSTS = [0.0, 0.25, 1.0, 2.0, np.inf]
FIRST = ("tests/test_benchmarks.py",)
"""What takes minutes in one go: at the end, one core would wait for the other."""


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: not item.nodeid.startswith(FIRST))


def numbers(draw, count, special, low, high, decimals, share=0.5):
    """Draw numbers, a share of them special; as bytes, in a tenth of the time that lists take."""
    drawn = np.frombuffer(draw(st.binary(min_size=3 * count, max_size=3 * count)), np.uint8)
    kind, *fine = drawn.reshape(3, count).astype(int)
    between = low + (high - low) * (256 * fine[0] + fine[1]) / (2**16 - 1)
    special_ones = np.array(special)[kind % len(special)]
    return np.where(kind < 256 * share, special_ones, between.round(decimals))


@st.composite
def problems(draw, largest=7, decimals=6):
    """Ties in losses; zero, infinite and duplicate costs; empty cells; all kinds of budgets."""
    size = draw(st.integers(1, largest))
    coarse = draw(st.booleans())
    losses = numbers(draw, size, [0.0, 0.5, 1.0, 3.0], 0, 4, decimals, share=float(coarse))
    costs = numbers(draw, size**2, COSTS, 0.01, 5, decimals).reshape(size, size)
    if draw(st.booleans()) and size > 1:
        costs[:, 1] = costs[:, 0]
    np.fill_diagonal(costs, 0)
    frequencies = numbers(draw, size, [0.0, 1.0, 2.0], 0.02, 3, decimals)
    if frequencies.sum() > 0:
        frequencies /= frequencies.sum()
    budget = draw(
        st.sampled_from([0.0, 1e-6, 0.1, 0.25, 1.0, 50.0])
        | st.floats(0, 3).map(lambda x: round(x, decimals))
    )
    return AuditProblem(losses, costs, budget=budget), frequencies


@pytest.fixture
def corner():
    """The theory page's counterexample: cells (cost, gain) (1, 1), (.2, .6), (0, 0), (0, 1)."""
    losses = np.array([0, 0, 0, 0, 1, 0.6])
    costs = np.full((6, 6), np.inf)
    np.fill_diagonal(costs, 0)
    costs[0, 4], costs[1, 5], costs[3, 4] = 1, 0.2, 0
    return AuditProblem(losses, costs, budget=0.54), np.array([0.45, 0.45, 0.05, 0.05, 0, 0])


@pytest.fixture(scope="session")
def browser():
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.fail("these tests need the program `chromium` on the PATH, and there is none")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM, headless=True)
        yield opened
        opened.close()
