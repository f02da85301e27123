"""The report: one file that needs no network and allows no foreign code."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from fairtransport.report import reading, tables, words
from fairtransport.report.facts import facts
from fairtransport.report.glossary import GLOSSARY
from fairtransport.report.pictures import chart_specs
from fairtransport.report.text import (
    DOWN,
    UP,
    bound,
    decimal,
    group_text,
    interval_text,
    level,
    people,
    percent,
    prediction_text,
    profile_text,
    shorten,
    value_text,
    visible,
)

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from fairtransport.summary import AuditSummary

MOST_ROWS = 500
"""More moves than these are left to the JSON document."""
MOST_AFFECTED = 200
_CODE = re.compile(r"`([^`]{1,80})`")


def render_html(summary: AuditSummary, *, title: str = "Audit for individual bias") -> str:
    """Return the report as one HTML document, the same bytes for the same summary.

    Parameters
    ----------
    summary
        What the audit says.
    title
        The heading of the report.

    Notes
    -----
    Scripts and styles stand in the file and are allowed by their hashes alone
    (Content-Security-Policy), so nothing that comes with the data can run. Strings of the
    data are escaped in HTML and in the charts' JSON, and hidden characters are spelled out.
    """
    specs = chart_specs(summary)
    style, script = _part("report.css"), _part("report.js")
    scripts = [javascript_bundle(), script] if specs else [script]
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            title=visible(title),
            s=summary,
            words=words,
            reading=reading,
            tables=_tables(summary),
            facts=facts(summary),
            notes=reading.notes(summary),
            glossary=GLOSSARY,
            charts=specs,
            charts_json=_safe_json(specs),
            style=style,
            scripts=scripts,
            policy=_policy(style, scripts),
            moves_left_out=max(0, len(summary.moves) - MOST_ROWS),
            affected_left_out=max(0, len(summary.most_affected) - MOST_AFFECTED),
            interval=interval_text(summary.interval.lower, summary.interval.upper),
            lower_bound=bound(summary.lower_bound, DOWN),
            upper_bound=bound(summary.upper_bound, UP),
        )
    )


def environment() -> Environment:
    """Return the templates' environment: escaping always, unknown names an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        loader=PackageLoader("fairtransport.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_keep_together,
    )
    made.filters |= {
        "code": _with_code,
        "decimal": decimal,
        "group": group_text,
        "level": level,
        "people": people,
        "percent": percent,
        "prediction": prediction_text,
        "profile": profile_text,
        "shorten": shorten,
        "value": value_text,
        "visible": visible,
        # our own files and the JSON that was made safe below; nothing else is trusted
        "trusted": Markup,
    }
    return made


def _keep_together(value: Any) -> Any:
    # a line must not break between a number and its percent sign
    return re.sub(r"(?<=\d) %", "\u00a0%", value) if type(value) is str else value


def _with_code(text: str) -> Markup:
    """Return escaped text in which words between backticks are code."""
    from markupsafe import Markup, escape

    # the text is escaped first, so that nothing of it but the backticks becomes a tag
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(_keep_together(text)))))  # noqa: S704


@cache
def javascript_bundle() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script."""
    import vl_convert

    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    # inside a script element these would end or hide it
    return bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--").replace("\r\n", "\n")


def _part(name: str) -> str:
    from importlib.resources import files

    return files("fairtransport.report").joinpath("templates", name).read_text("utf-8")


def _safe_json(value: Any) -> str:
    """Return JSON that cannot end a script element, whatever strings are in it."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _policy(style: str, scripts: list[str]) -> str:
    allowed = " ".join(_source(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_source(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _source(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _tables(summary: AuditSummary) -> dict[str, Any]:
    return {
        "moves": tables.moves_table(summary, MOST_ROWS),
        "flows": [tables.flow_table(table, at) for at, table in enumerate(summary.flows, 1)],
        "affected": tables.affected_table(summary, MOST_AFFECTED),
        "groups": tables.groups_table(summary),
        "metrics": tables.metrics_table(summary),
        "methods": tables.methods_table(summary),
        "curve": tables.curve_table(summary),
        "costs": tables.costs_table(summary),
    }
