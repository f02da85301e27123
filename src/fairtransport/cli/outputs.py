"""The files an audit writes: report and JSON."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from errno import ELOOP, ENAMETOOLONG
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from cyclopts import Parameter

from fairtransport._core.files import is_file, remove_file, write_text
from fairtransport._core.validation import check_integer, short_repr
from fairtransport.cli.options import GROUPS, Switch, Whole, unwrap_help
from fairtransport.errors import InputError, name_parameters, param
from fairtransport.report.console import name_flags
from fairtransport.settings import DOCUMENT, OUTPUT

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from fairtransport._core.schema import Document
    from fairtransport.audits import AuditResult, Audits
    from fairtransport.cli.options import Flags
    from fairtransport.documents.family import FamilySummary

HTML, MARKDOWN = (".html", ".htm"), (".md", ".markdown")
STDOUT = ("-", "/dev/stdout")
MIN_SHARED_PEOPLE = 5
"""Default of the fewest people in a shared cell."""
JUNIT_HEAD = 200
"""Number of bytes of a JUnit file that contain the name of its first suite."""


Target: TypeAlias = Annotated[Path, Parameter(allow_leading_hyphen=True)]
"""A file to write; it may begin with a hyphen, so that the error can explain its rule."""


@Parameter(name="*", group=GROUPS[OUTPUT])
@unwrap_help
@dataclass(frozen=True, kw_only=True)
class Outputs:
    """What an audit writes.

    Parameters
    ----------
    report
        A file for the report: .html or .md.
    json
        A file for the result as JSON; "-" prints the JSON instead of the usual text.
    junit
        A file for the verdict as a JUnit XML test: failed if the result ends with an error code
        (--fail-on), else skipped if it is not settled. A file of an earlier run is removed first.
        The test is named after --title or --data-name and the sensitive columns: give each of
        several audits its own --title.
    moves
        A .csv or .parquet file for all swaps: who is swapped with whom, one per row.
    share
        Make files that can be given to others: without numbers about few people, and without the
        fingerprint (hash) of the data.
    share_at_least
        In shared files, numbers about fewer people than this are left out. Default: 5. Implies
        --share.
    """

    report: Target | None = None
    json: Target | None = None
    junit: Target | None = None
    moves: Target | None = None
    share: Switch = False
    share_at_least: Whole | None = None

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
        """Whether shared files were requested, but no file to share."""
        return self._share() is not None and self.report is None and self.json is None

    def check(self, *inputs: Path | str | None) -> None:
        """Check, before any work, that files can be written and replace no input."""
        if self.report is not None:
            check_report_ending("--report", self.report)
        if self.json is not None and str(self.json).startswith("-") and not self.fills_stdout:
            msg = f"`--json` must be a file or -, got {str(self.json)!r}"
            raise InputError(msg)
        if self.junit is not None and str(self.junit).startswith("-"):
            msg = f"`--junit` must be a file, got {str(self.junit)!r}"
            raise InputError(msg)
        if self.moves is not None:
            from fairtransport.explain.moves import check_moves_ending

            check_moves_ending("--moves", self.moves)
            self._check_shared_moves()
        least = self.share_at_least
        if least is not None:
            check_integer("--share-at-least", least, at_least=2)
        # with links resolved, so that a report does not replace its own data
        inputs_and_outputs = {real_path(Path(path)) for path in inputs if path is not None}
        files = (("--report", self.report), ("--json", self.json), ("--junit", self.junit),
                 ("--moves", self.moves))  # fmt: skip
        for flag, path in files:
            if path is not None and not (flag == "--json" and self.fills_stdout):
                check_target(flag, path, inputs_and_outputs)
                inputs_and_outputs.add(real_path(path))
        if self.junit is not None:  # after an error, an older one would be mistaken for ours
            remove_file(self.junit)

    def write(
        self, result: AuditResult, options: Mapping[str, Any], *, failed: bool, seconds: float
    ) -> list[Path]:
        """Write the requested files and return their paths."""
        options, paths = {**options, "share": self._share()}, []
        if self.report is not None:
            paths.append(write_report("--report", self.report, result, **options))
        if self.fills_stdout:
            sys.stdout.write(result.document(**options).to_json())
        elif self.json is not None:
            with name_parameters(path="--json"):
                paths.append(result.to_json(self.json, **options))
        if self.junit is not None:
            from fairtransport.report.exports import render_junit

            text = render_junit(result.document(**options), failed=failed, seconds=seconds)
            paths.append(write_text(self.junit, text, "--junit"))
        if self.moves is not None:
            with name_parameters(path="--moves"):
                paths.append(result.write_moves(self.moves))
        return paths

    def _check_shared_moves(self) -> None:
        """Reject a table of all moves if documents are shared."""
        if self._share() is not None:
            msg = (
                "`--moves` must not be given with `--share`: its rows are about single people; the "
                "shared report and JSON have the swaps that can be given to others"
            )
            raise InputError(msg)

    def write_document(self, document: Document) -> list[Path]:
        """Write a report, by its ending, and JSON of a family or a comparison; return the paths."""
        from fairtransport.report import render

        paths = []
        if self.report is not None:
            output_format = format_of(self.report)
            text = render(name_flags(document), output_format)
            paths.append(write_text(self.report, text, "--report"))
        if self.fills_stdout:
            sys.stdout.write(document.to_json())
        elif self.json is not None:
            paths.append(write_text(self.json, document.to_json(), "--json"))
        return paths

    def write_family(self, family: Audits, *, fail_on: str, seconds: float) -> list[Path]:
        """Write the requested files of a family and return their paths."""
        paths = self.write_document(family.summary) if self.asks_for_files else []
        if self.junit is not None:
            from fairtransport.report.exports import render_family_junit

            summary = with_headlines(family)
            text = render_family_junit(summary, fail_on=fail_on, seconds=seconds)
            paths.append(write_text(self.junit, text, "--junit"))
        return paths

    def check_family(self, flags: Flags) -> None:
        """Reject outputs of single audits: moves, and the head of a report."""
        values: dict[str, object] = {"--moves": self.moves}
        for name, value in flags.values(DOCUMENT).items():
            if value != DOCUMENT[name].default:
                values[f"--{DOCUMENT[name].flag}"] = value
        for flag, value in values.items():
            if value is not None:
                msg = (
                    f"{param(flag)} must not be given for several audits, got "
                    f"{short_repr(str(value))}"
                )
                raise InputError(msg)

    def check_not_shared(self) -> None:
        """Refuse to share several audits of the same people, which together disclose too much."""
        if self._share() is not None:
            msg = (
                "`--share` must not be given for several audits: the rounded numbers of several "
                "audits together reveal exact ones; share one audit"
            )
            raise InputError(msg)

    def _share(self) -> int | None:
        """Return the fewest people in a cell that is shared, None if nothing is."""
        if self.share_at_least is not None:
            return self.share_at_least
        return MIN_SHARED_PEOPLE if self.share else None


def with_headlines(family: Audits) -> FamilySummary:
    """Return a family's summary, with the audits' own documents but no slow parts."""
    return replace(family.headline, audits=tuple(one.headline for one in family.values()))


def remove_junit_of_line(tokens: Sequence[str]) -> None:
    """Remove the result of an earlier audit named on a line that ends in an error.

    As little of the line may have been read, only files written by an audit are removed.
    """
    from fairtransport.report.exports import JUNIT_MARK

    for before, token in zip(["", *tokens], tokens, strict=False):
        flag, _, value = token.partition("=")
        path = Path(value if flag == "--junit" and value else token)
        if "--junit" in {flag, before} and is_file(path):
            with path.open("rb") as file:
                is_ours = JUNIT_MARK in file.read(JUNIT_HEAD)
            if is_ours:
                remove_file(path)


def write_report(flag: str, path: Path, result: AuditResult, **options: Any) -> Path:
    """Write a report, HTML or Markdown by its ending; notes and errors name flags."""
    from fairtransport.report import render

    text = render(name_flags(result.document(**options)), format_of(path))
    return write_text(path, text, flag)


def format_of(path: Path) -> str:
    """Return the format of a report by its file's ending."""
    return "html" if path.suffix.lower() in HTML else "markdown"


def check_report_ending(flag: str, path: Path) -> None:
    """Refuse a report that is neither HTML nor Markdown."""
    if path.suffix.lower() not in (*HTML, *MARKDOWN):
        msg = f"{param(flag)} must end in .html or .md, got {path.name!r}"
        raise InputError(msg)


def check_target(flag: str, path: Path, files: Collection[Path | None] = ()) -> None:
    """Refuse a file that could not be written, or that the command reads or writes already."""
    real = real_path(path)
    if real is None:
        msg = f"{param(flag)} must be the path of a file, got {short_repr(str(path))}"
        raise InputError(msg)
    if not path.parent.is_dir():
        msg = f"{param(flag)} must be in an existing folder, got {str(path)!r}"
        raise InputError(msg)
    what = "another file of this command" if real in files else _refused_kind(path)
    if what is not None:
        msg = f"{param(flag)} must not be {what}, got {str(path)!r}"
        raise InputError(msg)


def _refused_kind(path: Path) -> str | None:
    """Return what a path is if it cannot be written to; devices and pipes can."""
    kinds = {
        "a folder": path.is_dir, "a socket": path.is_socket, "a disk": path.is_block_device,
    }  # fmt: skip
    return next((kind for kind, is_kind in kinds.items() if is_kind()), None)


def real_path(path: Path) -> Path | None:
    """Return where a path leads; None if no file can be there (circular links, a null byte)."""
    real = path
    try:
        real = Path(os.path.realpath(path))
        return None if real.is_symlink() else real
    except ValueError:
        return None
    except OSError as error:  # also for a deleted folder, which the writer reports
        return None if error.errno in {ELOOP, ENAMETOOLONG} else real
