"""Charts of a notebook, executed and exported, in a browser without a network."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

import fairtransport as ft
from fairtransport.report.charts.specs import picture
from tests.report.samples import hostile, sample

CELL = """
import numpy as np, pandas as pd
import fairtransport as ft

rng = np.random.default_rng(0)
people = pd.DataFrame({"sex": rng.choice(["f", "m"], 200), "age": rng.integers(0, 3, 200)})
people["good"] = rng.integers(0, 2, 200)
result = ft.audit(
    people, "good", model=lambda x: (x["sex"] == "m").astype(int), features=["sex", "age"],
    sensitive_features="sex", delta=0.1, rng=0,
)
result.plot()
"""


def test_it_is_an_altair_chart_all_the_same():
    import altair as alt

    chart = picture(sample(), "law")

    assert isinstance(chart, alt.LayerChart)
    assert chart.properties(width=200).to_dict()["width"] == 200
    assert "text/html" in chart.properties(width=200)._repr_mimebundle_()


def test_what_a_notebook_gets_names_no_address_and_is_the_same_every_time():
    first, again = (picture(sample(), "flows")._repr_mimebundle_() for _ in range(2))
    page = first["text/html"]

    assert first == again
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", page)
    assert "cdn.jsdelivr" not in page
    assert "<svg" in page
    assert first["text/plain"].startswith("Heat maps")


def test_without_the_extra_scripts_alone_draw(monkeypatch):
    chart = picture(sample(), "law")
    with_picture = chart._repr_mimebundle_()["text/html"]
    monkeypatch.setitem(sys.modules, "vl_convert", None)

    drawn, script = chart._repr_mimebundle_()["text/html"].split("<script>")

    assert re.fullmatch(r'<div id="fairtransport-[0-9a-f]{16}"></div>\s*', drawn)
    assert script == with_picture.split("<script>")[1]


def test_the_chart_of_decisions_needs_no_network_either():
    names = {}
    exec(CELL, names)  # noqa: S102 - our own cell
    page = names["result"].decisions.plot()._repr_mimebundle_()["text/html"]

    assert page.startswith("<div id=")
    assert "cdn.jsdelivr" not in page


@pytest.mark.slow
def test_names_in_the_data_end_no_script():
    page = picture(hostile(), "flows")._repr_mimebundle_()["text/html"]

    assert page.count("</script") == 1
    # before our script and after the libraries in it there is what comes from the data
    drawn, script = page.split("<script>")
    assert "<img" not in drawn + script.rpartition("window.fairtransportEmbed(")[2]


@pytest.mark.slow
def test_an_exported_notebook_draws_without_a_network(tmp_path, browser, monkeypatch):
    nbformat = pytest.importorskip("nbformat")
    from nbconvert import HTMLExporter
    from nbconvert.preprocessors import ExecutePreprocessor

    source = Path(ft.__file__).parents[1]
    monkeypatch.setenv("PYTHONPATH", f"{source}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(CELL), nbformat.v4.new_code_cell("result.plot('methods')")]
    )
    ExecutePreprocessor(timeout=300, kernel_name="python3").preprocess(notebook)
    (tmp_path / "notebook.html").write_text(HTMLExporter().from_notebook_node(notebook)[0], "utf-8")
    context = browser.new_context(offline=True)
    page = context.new_page()
    failed = []
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.goto((tmp_path / "notebook.html").as_uri())
    places = page.locator("[id^=fairtransport-]")
    page.wait_for_function(
        "document.querySelectorAll('[id^=fairtransport-].vega-embed svg.marks').length == 2"
    )

    assert places.count() == 2
    numbers = places.first.locator(".mark-text.role-mark text").all_text_contents()
    assert any(text.startswith("+") for text in numbers)
    ours = [one for one in failed if "require" not in one and "MathJax" not in one]
    assert ours == []
    context.close()


def test_a_spec_is_in_the_page_once():
    chart = picture(sample(), "methods")
    page = chart._repr_mimebundle_()["text/html"]

    assert json.dumps(chart.to_dict()["description"])[1:-1] in page
