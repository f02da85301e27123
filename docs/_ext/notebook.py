"""Shows a notebook on a page: its cells and outputs, run when the site is built.

A page has a block ```` ```{notebook} FILE ````, with a file relative to the folder of the pages.
"""

import html
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbconvert.preprocessors import ExecutePreprocessor

BLOCK = re.compile(r"^```\{notebook\} (\S+)\n```$", re.MULTILINE)
PICTURE = re.compile(r'^<div id="[^"]+">(<svg.*?</svg>)</div>', re.DOTALL)
"""A chart's picture, which precedes its scripts."""
SHEET = re.compile(r"<style.*?</style>", re.DOTALL)


def run_notebook(path):
    """Return a notebook with its outputs, run in a temporary folder."""
    notebook = nbformat.read(path, as_version=4)
    with TemporaryDirectory() as folder:
        ExecutePreprocessor(timeout=600, kernel_name="python3").preprocess(
            notebook, {"metadata": {"path": folder}}
        )
    return notebook


def format_output(output):
    """Return an output as a picture, a table or text."""
    if output.output_type == "stream":
        return f"````text\n{output.text}````"
    text, page = output.data["text/plain"], output.data.get("text/html", "")
    if picture := PICTURE.match(page):
        label = html.escape(text, quote=True)
        hidden = picture[1].replace("<svg", '<svg aria-hidden="true"', 1)  # the label describes it
        shown = f'<div class="picture" role="img" aria-label="{label}">{hidden}</div>'
    elif "<table" in page:
        plain = SHEET.sub("", page).replace(' style="text-align: right;"', "")
        shown = plain.replace('class="dataframe"', 'class="table"').replace(
            "<th></th>", "<td></td>"
        )
    else:
        return f"````text\n{text}\n````"
    return f"````{{raw}} html\n{shown}\n````"


def format_cell(cell):
    """Return a cell as Markdown, with its output below it."""
    if cell.cell_type == "markdown":
        return cell.source
    return "\n\n".join([f"````python\n{cell.source}\n````", *map(format_output, cell.outputs)])


def show_notebooks(app, page, text):
    """Replace the block of a notebook by its cells."""

    def show(block):
        path = Path(app.srcdir, block[1])
        app.env.note_dependency(str(path), docname=page)
        return "\n\n".join(map(format_cell, run_notebook(path).cells))

    text[0] = BLOCK.sub(show, text[0])


def setup(app):
    """Connect it to the reading of pages."""
    app.connect("source-read", show_notebooks)
    return {"parallel_read_safe": True}
