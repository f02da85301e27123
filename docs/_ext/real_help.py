"""A directive that shows what commands print for ``--help``, run when the site is built."""

import subprocess
import sys

from docutils import nodes
from docutils.parsers.rst import Directive


class RealHelp(Directive):
    """``real-help`` with a command on each line: a section for each, after that of the program."""

    has_content = True

    def run(self):
        """Return the sections."""
        return [help_section(command) for command in ["", *self.content]]


def help_section(command):
    """Return a section with the help of a command, in a terminal of 76 columns."""
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "fairtransport", *command.split(), "--help"],
        capture_output=True, check=True, encoding="utf-8",
        env={"COLUMNS": "76", "PYTHONIOENCODING": "utf-8", "PATH": ""},
    )  # fmt: skip
    title = f"fairtransport {command}".strip()
    section = nodes.section(ids=[nodes.make_id(title)], names=[nodes.fully_normalize_name(title)])
    section += nodes.title(title, title)
    section += nodes.literal_block(done.stdout, done.stdout, language="text")
    return section


def setup(app):
    """Register the directive."""
    app.add_directive("real-help", RealHelp)
    return {"parallel_read_safe": True}
