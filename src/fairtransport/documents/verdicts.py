"""The verdicts: one row each, used by every document, report, screen and exit code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable

NOT_CERTIFIED_EXIT = 4
"""Exit code that is used only if the command line requires a certificate."""


FailOn: TypeAlias = Literal["rejected", "not-certified", "never"]
"""Which verdicts fail, on the command line, in pytest and in JUnit files."""
FAIL_ON: tuple[str, ...] = get_args(FailOn)


@dataclass(frozen=True, kw_only=True)
class VerdictRow:
    """How one verdict is written, drawn, ranked and returned to a shell."""

    value: str | None
    """The value in documents; None without δ."""
    title: str
    """The heading in all outputs."""
    formal: str
    """The verdict on δ-fairness, as a statistician writes it."""
    phrase: str
    """The verdict inside a sentence or a cell."""
    part_phrase: str = ""
    """The verdict on the attributable part, inside a sentence."""
    definition: str = ""
    """The entry of the glossary."""
    decides: bool = False
    """Whether it decides on δ-fairness, with the confidence of the audit."""
    evidence: str = "{bounds}"
    """The evidence, at the end of its sentence; ``evidence_words`` of the report fills it in."""
    figures: tuple[str, ...] = ("lower", "upper")
    """The figures beside it on a line."""
    mark: str
    colour: str
    """The colour in a terminal."""
    line_colour: str = "#7f8c9b"
    """The colour of the line beside a fragment in a notebook."""
    page_colours: tuple[str, str] | None = None
    """Accent and tint of a page; None: those of the style sheet."""
    dark_colours: tuple[str, str] | None = None
    """The same on a dark page."""
    rank: int
    """The rank among the verdicts of a family: 0 needs most attention."""
    exit_code: int
    exit_meaning: str = ""
    """Meaning of the exit code; empty if there is none, or another verdict has it, too."""
    glyph: tuple[int | None, int, int] | None = None
    """Positions of the limit and of the interval's ends in a drawing, of 40; None: no interval."""

    @property
    def css_class(self) -> str:
        """The class of the verdict's box on a page."""
        return self.value or "open"


_ROWS = (
    VerdictRow(
        value="rejected",
        formal="δ-fairness rejected",
        title="Over the limit",
        phrase="over the limit",
        part_phrase="rejected that it is at most δ",
        definition=(
            "The lower bound is above the limit: data like these would be rare if the population "
            "were within it."
        ),
        decides=True,
        evidence="{sure} {at_least}more than δ = {delta_above}{pvalue}",
        figures=("lower", "pvalue"),
        mark="✕",
        colour="red",
        line_colour="#d55e00",
        page_colours=("#a63f00", "#fdf3ec"),
        dark_colours=("#f2a36a", "#2b1d13"),
        rank=0,
        exit_code=3,
        exit_meaning="over the limit (δ-fairness rejected)",
        glyph=(4, 14, 36),
    ),
    VerdictRow(
        value="certified",
        formal="δ-fairness certified",
        title="Within the limit",
        phrase="within the limit",
        part_phrase="certified that it is at most δ",
        definition="The upper bound is at or below the limit.",
        decides=True,
        evidence="{sure} {at_most}no more than δ = {delta_below}",
        figures=("upper",),
        mark="✓",
        colour="blue",
        line_colour="#0072b2",
        page_colours=("#0b5394", "#eaf2fa"),
        dark_colours=("#8cc0f5", "#152435"),
        rank=3,
        exit_code=0,
        glyph=(36, 4, 26),
    ),
    VerdictRow(
        value="inconclusive",
        formal="Not settled",
        title="Not settled",
        phrase="not settled",
        part_phrase="not settled",
        definition="The data do not show on which side of the limit it is; more people may.",
        evidence="{undecided}",
        mark="?",
        colour="yellow",
        line_colour="#e69f00",
        page_colours=("#6b5200", "#fbf6e6"),
        dark_colours=("#e3c766", "#27220f"),
        rank=2,
        exit_code=NOT_CERTIFIED_EXIT,
        exit_meaning="not settled, with --fail-on not-certified",
        glyph=(20, 4, 36),
    ),
    VerdictRow(
        value="not-applicable",
        formal="This audit cannot tell",
        title="This audit cannot tell",
        phrase="cannot tell",
        definition=(
            "The audit would say the same of any model, or compares hardly anybody: its numbers "
            "are no evidence."
        ),
        mark="⊘",
        colour="magenta",
        rank=1,
        exit_code=5,
        exit_meaning="this audit cannot tell: its numbers are no evidence",
    ),
    VerdictRow(
        value=None,
        formal="No verdict",
        title="No limit set",
        phrase="without a limit",
        mark="–",
        colour="white",
        rank=4,
        exit_code=NOT_CERTIFIED_EXIT,
        glyph=(None, 4, 36),
    ),
)
VERDICTS: dict[str | None, VerdictRow] = {row.value: row for row in _ROWS}
"""The row of each verdict, by its value."""
EXIT_CODES = {
    0: "within the limit, not settled, or no limit was set: 0 is no proof of fairness",
    1: "no result: the data, the model or an output file could not be used",
    2: "wrong usage",
} | {row.exit_code: row.exit_meaning for row in sorted(_ROWS, key=lambda row: row.exit_code)
     if row.exit_meaning}  # fmt: skip
"""What the exit codes of an audit mean."""
VERDICT_VALUES = tuple(row.value for row in _ROWS if row.value is not None)
"""The verdicts on δ-fairness in JSON documents."""
COMPARISON_VERDICTS = {
    "better": "certified",
    "worse": "rejected",
    "undecided": "inconclusive",
    "not-applicable": "not-applicable",
}
"""The verdicts on two models, each with the verdict on one model that has its style."""


def exit_code(verdict: str | None, fail_on: str | None) -> int:
    """Return the exit code of a verdict; 0 if it passes or there is none, without δ."""
    if fail_on == "never" or verdict is None:
        return 0
    code = VERDICTS[verdict].exit_code
    return 0 if code == NOT_CERTIFIED_EXIT and fail_on != "not-certified" else code


def comparison_row(verdict: str) -> VerdictRow:
    """Return the row with the mark and colours of a verdict on two models."""
    return VERDICTS[COMPARISON_VERDICTS[verdict]]


def worst_row(verdicts: Iterable[str | None]) -> VerdictRow:
    """Return the row of the verdict that needs most attention."""
    return min((VERDICTS[verdict] for verdict in verdicts), key=lambda row: row.rank)


def verdict_cell(verdict: str | None) -> str:
    """Return a verdict with its mark, for a table's cell."""
    return f"{VERDICTS[verdict].mark} {VERDICTS[verdict].phrase}"
