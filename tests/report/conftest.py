"""Reports opened in a real browser, from disk."""

from dataclasses import dataclass, field, replace

import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.report import render
from tests.report import samples

SAMPLES = ("sample", "with_budget", "hostile", "own_names")


@pytest.fixture(scope="session")
def reports(tmp_path_factory):
    """Write each sample's report once."""
    folder = tmp_path_factory.mktemp("reports")
    paths = {}
    summaries = {name: getattr(samples, name)() for name in SAMPLES}
    # many moves, and a threshold far from all that was found
    budgeted = summaries["with_budget"]
    summaries["long"] = replace(budgeted, moves=budgeted.moves * 30, delta=0.4)
    pages = {name: render(summary, "html") for name, summary in summaries.items()}
    for name in ("family", "hostile_family"):
        pages[name] = render(getattr(samples, name)(), "html")
    for name in ("comparison", "hostile_comparison"):
        pages[name] = render(getattr(samples, name)(), "html")
    for name, page in pages.items():
        paths[name] = folder / f"{name}.html"
        paths[name].write_text(page, encoding="utf-8")
    return paths


@dataclass
class Visit:
    """An open page and all that went on while it was open."""

    page: object
    url: str
    messages: list = field(default_factory=list)
    requests: list = field(default_factory=list)


@pytest.fixture
def visit(browser, reports):
    """Return a function that opens a sample's report and waits until it is drawn."""
    contexts = []

    def open_report(name="sample", *, width=1280, ready=True, folded=False, **settings):
        settings = {"viewport": {"width": width, "height": 900}, **settings}
        context = browser.new_context(**settings)
        contexts.append(context)
        page = context.new_page()
        seen = Visit(page, reports[name].as_uri())
        page.on("console", lambda message: seen.messages.append(message.text))
        page.on("pageerror", lambda error: seen.messages.append(str(error)))
        page.on("request", lambda request: seen.requests.append(request.url))
        page.add_init_script(
            "window.violations = [];"
            "document.addEventListener('securitypolicyviolation',"
            " event => window.violations.push(event.effectiveDirective));"
        )
        page.goto(seen.url)
        if ready:
            page.wait_for_selector("html[data-ready]", timeout=60_000)
        if ready and not folded:
            page.evaluate(
                "for (const part of document.querySelectorAll('[data-fold]')) part.open = true"
            )
        return seen

    yield open_report
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def biased():
    """An audit that rejects."""
    people = pd.DataFrame({"sex": ["f", "m"] * 100, "points": [1, 2, 3, 4, 5] * 40})
    people["good"] = (people["points"] > 3).astype(int)
    return ft.audit(
        people, "good", sensitive_features="sex", delta=0.05, rng=0,
        model=lambda points: (points["points"] + (points["sex"] == "m") > 3).astype(int),
    )  # fmt: skip
