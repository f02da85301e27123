"""A directive that shows the ``--help`` of a command, run when the site is built."""

import subprocess
import sys

from docutils import nodes
from docutils.parsers.rst import Directive


class RealHelp(Directive):
    """``real-help`` and a command: the text of its help, in a terminal of 76 columns."""

    optional_arguments = 1
    final_argument_whitespace = True

    def run(self):
        command = (self.arguments or [""])[0].split()
        done = subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-m", "fairtransport", *command, "--help"],
            capture_output=True, check=True, encoding="utf-8",
            env={"COLUMNS": "76", "PYTHONIOENCODING": "utf-8", "PATH": ""},
        )  # fmt: skip
        return [nodes.literal_block(done.stdout, done.stdout, language="text")]


def setup(app):
    """Register the directive."""
    app.add_directive("real-help", RealHelp)
    return {"parallel_read_safe": True}
