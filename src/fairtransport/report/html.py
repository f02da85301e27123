"""The report: one file that needs no network and allows no foreign code."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from fairtransport.report.bundle import javascript_bundle
from fairtransport.report.headings import about_line, heading_of
from fairtransport.report.pictures import chart_specs
from fairtransport.report.rendering import environment, render_sections
from fairtransport.report.sections import Output
from fairtransport.report.strings import visible

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from fairtransport.report.rendering import Document
    from fairtransport.summary import AuditSummary

_CODE = re.compile(r"`([^`]{1,80})`")


def render_html(summary: AuditSummary, *, title: str | None = None) -> str:
    """Return the report as one HTML document, the same bytes for the same summary.

    Parameters
    ----------
    summary
        What the audit says.
    title
        The heading of the report; default: the audit's own.

    Notes
    -----
    Scripts and styles stand in the file and are allowed by their hashes alone
    (Content-Security-Policy), so nothing that comes with the data can run. Strings of the
    data are escaped in HTML and in the charts' JSON, and hidden characters are spelled out.
    """
    heading = title or heading_of(summary)
    version = summary.provenance.version
    return page(summary, heading, chart_specs(summary), version, about_line(summary))


def page(
    summary: Document, title: str, specs: dict[str, Any], version: str, about: str = ""
) -> str:
    """Return a document as a page, with the charts that its sections ask for.

    ``about`` stands under the heading: what was audited, by whom, when.

    Parameters
    ----------
    summary
        What is told, of one audit, several or a comparison.
    title
        The heading; it may come from a user.
    specs
        Charts as Vega-Lite documents by their keys; without any the page has no chart scripts.
    version
        Of fairtransport.
    about
        A line, perhaps empty.
    """
    style, script = _part("report.css"), _part("report.js")
    scripts = [javascript_bundle(), script] if specs else [script]
    made = html_environment()
    return made.get_template("report.html.j2").render(
        title=visible(title),
        version=version,
        about=about,
        parts=render_sections(made, summary, Output(html=True, charts=specs)),
        charts_json=safe_json(specs),
        style=style,
        scripts=scripts,
        policy=_policy(style, scripts),
    )


def html_environment() -> Environment:
    """Return the environment of templates that make HTML.

    Tables and charts are macros of ``pieces.html.j2``, under their names in every template.
    """
    made = environment(_keep_together, _with_code)
    pieces = vars(made.get_template("pieces.html.j2").module)
    made.globals |= {name: pieces[name] for name in ("table", "chart")}
    return made


def _keep_together(value: object) -> object:
    """Return text in which numbers stay with their percent signs; other values as they are."""
    # a line must not break between a number and its percent sign
    return re.sub(r"(?<=\d) %", "\u00a0%", value) if type(value) is str else value


def _with_code(text: str) -> Markup:
    """Return escaped text in which words between backticks are code.

    Parameters
    ----------
    text
        Of ours, with names of the data in it.

    Examples
    --------
    >>> print(_with_code("set `delta` < 1"))
    set <code>delta</code> &lt; 1
    """
    from markupsafe import Markup, escape

    # the text is escaped first, so that nothing of it but the backticks becomes a tag
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(_keep_together(text)))))  # noqa: S704


def _part(name: str) -> str:
    """Return a file of the templates' folder as text."""
    from importlib.resources import files

    return files("fairtransport.report").joinpath("templates", name).read_text("utf-8")


def safe_json(value: Any) -> str:
    r"""Return JSON that cannot end a script element, whatever strings are in it.

    Parameters
    ----------
    value
        Charts with strings of the data.

    Examples
    --------
    >>> safe_json({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _policy(style: str, scripts: list[str]) -> str:
    """Return the page's Content-Security-Policy: these scripts and this style, and nothing else."""
    allowed = " ".join(_source(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_source(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _source(text: str) -> str:
    """Return a script or a style as a policy names it, by its hash.

    Examples
    --------
    >>> _source("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
