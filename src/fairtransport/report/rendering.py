"""Reports as text: the environment of templates, and the methods of every result."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fairtransport._core.files import write_text
from fairtransport._core.validation import check_choice
from fairtransport.report import text
from fairtransport.report.sections import SECTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jinja2 import Environment
    from markupsafe import Markup

    from fairtransport._core.schema import Document
    from fairtransport.report.sections.section import Output, Section


T = TypeVar("T")
_TAGS_AND_CELLS = re.compile("<td.*?</td>|<[^>]*>", re.DOTALL)


@cache  # templates are compiled once for all documents
def environment(finalize: Callable[[object], object], code: Callable[[str], Markup]) -> Environment:
    """Return the templates' environment.

    Everything is escaped and an unknown name is an error, so that names from the data can neither
    break a page nor vanish from it. Only what passes ``trusted`` is not escaped.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
    )
    templates.filters |= {
        "code": code,
        "decimal": text.decimal,
        "level": text.level,
        "people": text.people,
        "percent": text.percent,
        "profile": text.profile_text,
        "shorten": text.shorten,
        "visible": text.visible,
        # our own files, sentences without data and escaped JSON only
        "trusted": Markup,
    }
    return templates


def entry_of(table: Mapping[type, T], document: Document) -> T:
    """Return the entry of a document's kind."""
    return next(entry for kind, entry in table.items() if isinstance(document, kind))


def render_sections(
    templates: Environment, document: Document, output: Output
) -> list[tuple[Section, Markup]]:
    """Return the sections of a report, each with its template part filled in; "" without any."""
    from markupsafe import Markup

    def render_section(section: Section, before: list[str]) -> Markup:
        contents = section.contents(document, replace(output, text=" ".join(before)))
        if not contents:
            return Markup("")
        text = templates.get_template(section.template).render(
            s=document, output=output, **contents
        )
        # the text of an escaping template is safe to put into another one
        return Markup(text)  # noqa: S704

    parts: list[tuple[Section, Markup]] = []
    texts: list[str] = []
    for section in entry_of(SECTIONS, document):
        body = render_section(section, texts)
        parts.append((section, body))
        texts.append(_TAGS_AND_CELLS.sub(" ", body) if output.html else "")
    return parts


FORMATS = ("html", "markdown", "json", "notebook")


def render(
    document: Document, output_format: str, *, title: str | None = None, max_moves: int = 10
) -> str:
    """Return a document as text, the same bytes for the same document.

    ``output_format`` is one of `FORMATS`; "notebook" is an HTML fragment without scripts. ``title``
    replaces the heading of a report, and ``max_moves`` limits the moves in Markdown.
    """
    check_choice("output_format", output_format, FORMATS)
    if output_format == "json":
        return document.to_json()
    if output_format == "markdown":
        from fairtransport.report.markdown import render_markdown

        return render_markdown(document, title=title, max_moves=max_moves)
    from fairtransport.report.html import render_fragment, render_html

    if output_format == "notebook":
        return render_fragment(document)
    return render_html(document, title=title)


class Reportable:
    """A result with a document, which it can write as a report or as JSON."""

    @property
    def summary(self) -> Document:
        """The whole result as one document."""
        raise NotImplementedError

    def document(self) -> Document:
        """Return the whole result: the fields of the JSON document.

        Examples
        --------
        >>> family.document().schema
        'fairtransport-family/1'
        """
        return self.summary

    def to_html(self, path: str | Path, **options: Any) -> Path:
        """Write the report as one self-contained file; ``options`` as in `document`.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     print(result.to_html(f"{folder}/report.html").read_text("utf-8")[:15])
        <!DOCTYPE html>
        """
        return write_text(Path(path), self._render("html", options))

    def to_json(self, path: str | Path, **options: Any) -> Path:
        """Write the document as JSON; ``options`` as in `document`.

        >>> import json, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     print(json.loads(result.to_json(f"{folder}/a.json").read_text("utf-8"))["verdict"])
        rejected
        """
        return write_text(Path(path), self._render("json", options))

    def to_markdown(self, **options: Any) -> str:
        """Return a short report for a model card or a pull request; ``options`` as in `document`.

        Examples
        --------
        >>> print(result.to_markdown().splitlines()[0])
        # Audit for individual bias
        """
        return self._render("markdown", options)

    def _repr_html_(self) -> str:
        return self._render("notebook", {})

    def _render(self, output_format: str, options: dict[str, Any]) -> str:
        # the options of a document differ by the kind of result
        document: Callable[..., Document] = self.document
        return render(document(**options), output_format)
