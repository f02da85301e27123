"""Writes the reports of ``examples/reports.py`` into the site, and shows one in a frame."""

import runpy
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive

FOLDER = "_static/gallery"


class Report(Directive):
    """``report`` and the name of a report: the report in a frame, and a link to it."""

    required_arguments = 1

    def run(self):
        address = f"{FOLDER}/{self.arguments[0]}.html"
        return [nodes.raw("", (
            f'<p><a href="{address}">Open the report</a></p>'
            f'<iframe class="report" src="{address}" title="The report" loading="lazy"></iframe>'
        ), format="html")]  # fmt: skip


def write_reports(app, error):
    """Write all reports after the pages."""
    if error is None and app.builder.format == "html":
        script = runpy.run_path(str(Path(app.srcdir).parent / "examples" / "reports.py"))
        script["write_reports"](Path(app.outdir, FOLDER))


def setup(app):
    """Register the directive."""
    app.add_directive("report", Report)
    app.connect("build-finished", write_reports)
    return {"parallel_read_safe": True}
