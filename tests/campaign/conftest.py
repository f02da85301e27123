"""The campaign's count table, printed after the run, whichever process ran what."""

from collections import Counter

from tests.campaign.kinds import CLEAR, RIGHT

PROPERTY = "campaign"


def pytest_terminal_summary(terminalreporter):
    counts = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", None) == "call":
                counts.update(
                    (_whose(entry), came)
                    for name, (entry, came) in report.user_properties
                    if name == PROPERTY
                )
    if not counts:
        return
    entries = sorted({entry for entry, _ in counts})
    width = max(map(len, entries))
    terminalreporter.section("bad and odd inputs")
    terminalreporter.line(f"{'':{width}}  kinds  clear  right  other")
    total = Counter()
    for entry in entries:
        row = Counter({came: n for (whom, came), n in counts.items() if whom == entry})
        total += row
        terminalreporter.line(_line(entry, row, width))
    terminalreporter.line(_line("all", total, width))


def _whose(entry):
    """Return the public name that an entry belongs to, or the command."""
    return " ".join(entry.split()[: 2 if entry.startswith("$") else 1])


def _line(entry, row, width):
    tried = sum(row.values())
    other = tried - row[CLEAR] - row[RIGHT]
    return f"{entry:{width}}  {tried:5}  {row[CLEAR]:5}  {row[RIGHT]:5}  {other:5}"
