"""The files an audit writes: report and JSON."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from errno import ELOOP, ENAMETOOLONG
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from cyclopts import Group, Parameter

from fairtransport.checks import shown, whole
from fairtransport.cli.argument_types import Switch, Whole, told
from fairtransport.cli.wording import naming
from fairtransport.errors import InputError
from fairtransport.filesystem import write_text
from fairtransport.localise.moves_file import check_moves_ending
from fairtransport.settings import AuditSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from fairtransport.audit import AuditResult
    from fairtransport.comparison_summary import ComparisonSummary
    from fairtransport.family import FamilySummary

Summary = TypeVar("Summary", "ComparisonSummary", "FamilySummary")

HTML, MARKDOWN = (".html", ".htm"), (".md", ".markdown")
STDOUT = ("-", "/dev/stdout")
FEWEST = 5
"""Cells with fewer people are suppressed in what is shared."""


@Parameter(name="*", group=Group("Output", sort_key=4))
@dataclass(frozen=True, kw_only=True)
class Outputs:
    """What an audit writes.

    Parameters
    ----------
    report
        A file for the report: .html or .md.
    json
        A file for the result as JSON; "-" prints it instead of the screen.
    junit
        A file for the verdict as a test's result, in JUnit's XML: failed where the exit code is
        3, 4 or 5.
    moves
        A .csv or .parquet file for all moves: who is swapped with whom, one a row.
    share
        Make files that can be handed over: cells with few people are suppressed and the data's
        hash is left out.
    share_at_least
        The fewest people in a cell that is shared; default 5. It implies --share.
    """

    report: Path | None = None
    json: Annotated[Path | None, Parameter(allow_leading_hyphen=True)] = None
    junit: Path | None = None
    moves: Path | None = None
    moves_limit: Annotated[Whole, told("moves_limit")] = AuditSettings.moves_limit
    title: Annotated[str | None, told("title")] = None
    date: Annotated[str | None, told("date")] = None
    data_name: Annotated[str | None, told("data_name")] = None
    auditor: Annotated[str | None, told("auditor")] = None
    share: Switch = False
    share_at_least: Whole | None = None
    favourable: Annotated[str | None, told("favourable")] = None
    privileged: Annotated[dict[str, str] | None, Parameter(negative=()), told("privileged")] = None

    @property
    def fills_stdout(self) -> bool:
        """Whether standard output belongs to the JSON document."""
        return str(self.json) in STDOUT

    @property
    def asks_for_files(self) -> bool:
        """Whether a report or a document is to be written."""
        return self.report is not None or self.json is not None

    @property
    def shares_nothing(self) -> bool:
        """Whether what can be handed over was asked for, but no file of it."""
        return self._share() is not None and self.report is None and self.json is None

    def check(self, *inputs: Path | None) -> None:
        """Refuse, before any work, files that could not be written or would replace an input.

        Parameters
        ----------
        inputs
            Files that the command reads.

        Raises
        ------
        InputError
            Naming the flag.
        """
        if self.report is not None:
            check_report_ending("--report", self.report)
        if self.json is not None and str(self.json).startswith("-") and not self.fills_stdout:
            msg = f"`--json` must be a file or -, got {str(self.json)!r}"
            raise InputError(msg)
        if self.moves is not None:
            check_moves_ending("--moves", self.moves)
            self._refuse_shared_moves()
        least = self.share_at_least
        if least is not None:
            whole("--share-at-least", least, at_least=2)
        taken = {real_path(path) for path in inputs if path is not None}
        files = (("--report", self.report), ("--json", self.json), ("--junit", self.junit),
                 ("--moves", self.moves))  # fmt: skip
        for flag, path in files:
            if path is not None and not (flag == "--json" and self.fills_stdout):
                check_target(flag, path, taken)
                taken.add(real_path(path))

    def write(self, result: AuditResult, *, failed: bool) -> list[Path]:
        """Write what was asked for and return the paths.

        Parameters
        ----------
        result
            The audit.
        failed
            Whether the exit code says so, for JUnit's file.
        """
        share, written = self._share(), []
        if self.report is not None:
            written.append(write_report("--report", self.report, result, share))
        if self.fills_stdout:
            sys.stdout.write(result.document(share).to_json())
        elif self.json is not None:
            with naming(path="--json"):
                written.append(result.to_json(self.json, share=share))
        if self.junit is not None:
            from fairtransport.report.junit import render_junit

            text = render_junit(result.document(share), failed=failed)
            written.append(write_text(self.junit, text, "--junit"))
        if self.moves is not None:
            with naming(path="--moves"):
                written.append(result.write_moves(self.moves))
        return written

    def _refuse_shared_moves(self) -> None:
        """Refuse a table of all moves beside what is to be shared."""
        if self._share() is not None:
            msg = (
                "`--moves` must not be given with `--share`: its rows are about people one by one; "
                "the shared report and JSON have the moves that can be handed over"
            )
            raise InputError(msg)

    def write_family(self, summary: FamilySummary) -> list[Path]:
        """Write what was asked for of several audits and return the paths.

        Parameters
        ----------
        summary
            What they say together.
        """
        from fairtransport.report.family_pages import render_family_html, render_family_markdown

        return self._write(summary, render_family_html, render_family_markdown)

    def write_comparison(self, summary: ComparisonSummary) -> list[Path]:
        """Write what was asked for of a comparison and return the paths.

        Parameters
        ----------
        summary
            What it says.
        """
        from fairtransport.report.comparison_pages import (
            render_comparison_html,
            render_comparison_markdown,
        )

        return self._write(summary, render_comparison_html, render_comparison_markdown)

    def _write(
        self, summary: Summary, html: Callable[[Summary], str], markdown: Callable[[Summary], str]
    ) -> list[Path]:
        """Write a report, by its ending, and a document.

        Parameters
        ----------
        summary
            What is told.
        html, markdown
            Make the report.
        """
        written = []
        if self.report is not None:
            render = html if self.report.suffix.lower() in HTML else markdown
            written.append(write_text(self.report, render(summary), "--report"))
        if self.fills_stdout:
            sys.stdout.write(summary.to_json())
        elif self.json is not None:
            written.append(write_text(self.json, summary.to_json(), "--json"))
        return written

    def refuse_words_of_one(self) -> None:
        """Refuse what only one audit has: its moves, and the words at the head of its report."""
        given = {
            "--junit": self.junit, "--moves": self.moves, "--title": self.title,
            "--date": self.date, "--data-name": self.data_name, "--auditor": self.auditor,
        }  # fmt: skip
        for flag, value in given.items():
            if value is not None:
                msg = f"`{flag}` must not be given for several audits, got {shown(str(value))}"
                raise InputError(msg)

    def refuse_sharing(self) -> None:
        """Refuse to hand over several audits of the same people: together they tell too much."""
        if self._share() is not None:
            msg = (
                "`--share` must not be given for several audits: rounded numbers of the same "
                "people, put together, tell the counts; share the document of one audit"
            )
            raise InputError(msg)

    def _share(self) -> int | None:
        """Return the fewest people in a cell that is shared, None if nothing is."""
        if self.share_at_least is not None:
            return self.share_at_least
        return FEWEST if self.share else None


def write_report(flag: str, path: Path, result: AuditResult, share: int | None = None) -> Path:
    """Write a report, HTML or Markdown by its ending; an error names the flag.

    Parameters
    ----------
    flag, path
        The flag, and where to.
    result
        The audit.
    share
        The fewest people in a cell; None: nothing is left out.
    """
    with naming(path=flag):
        if path.suffix.lower() in HTML:
            return result.to_html(path, share=share)
        return write_text(path, result.to_markdown(share=share))


def check_report_ending(flag: str, path: Path) -> None:
    """Refuse a report that is neither HTML nor Markdown.

    Parameters
    ----------
    flag, path
        The flag, and where the report would go.
    """
    if path.suffix.lower() not in (*HTML, *MARKDOWN):
        msg = f"`{flag}` must end in .html or .md, got {path.name!r}"
        raise InputError(msg)


def check_target(flag: str, path: Path, taken: Collection[Path | None] = ()) -> None:
    """Refuse a file that could not be written, or that the command reads or writes already.

    Parameters
    ----------
    flag, path
        The flag, and where the file would go.
    taken
        Files of the command, links followed.

    Raises
    ------
    InputError
        Before anything is computed.
    """
    real = real_path(path)
    if real is None:
        msg = f"`{flag}` must be the path of a file, got {shown(str(path))}"
        raise InputError(msg)
    if not path.parent.is_dir():
        msg = f"`{flag}` must be in an existing folder, got {str(path)!r}"
        raise InputError(msg)
    what = "another file of this command" if real in taken else _refused_kind(path)
    if what is not None:
        msg = f"`{flag}` must not be {what}, got {str(path)!r}"
        raise InputError(msg)


def _refused_kind(path: Path) -> str | None:
    """Say what a path is if nothing can be written there; devices and pipes can be written to.

    Parameters
    ----------
    path
        Where a file would go.
    """
    kinds = {
        "a folder": path.is_dir, "a socket": path.is_socket, "a disk": path.is_block_device,
    }  # fmt: skip
    return next((kind for kind, found in kinds.items() if found()), None)


def real_path(path: Path) -> Path | None:
    """Return where a path leads; None where no file can be: links in a circle, a null byte.

    Parameters
    ----------
    path
        What was typed; it need not exist.
    """
    try:
        real = Path(os.path.realpath(path))
        return None if real.is_symlink() else real
    except ValueError:
        return None
    except OSError as error:
        return None if error.errno in {ELOOP, ENAMETOOLONG} else real
