"""Runs the code of a page and writes down what it printed: ``python -m tests.pages PAGE``.

Blocks run in their order, in one folder and one set of names. In a ``python`` block what follows
``>>>`` is run; in a ``console`` block what follows ``$ fairtransport``, and ``$ echo $?`` shows how
that ended. A ``file`` block, as ```` ```toml name.toml ````, is written to its folder first. The
folder has the CSV files of ``examples``.
"""

import doctest
import io
import os
import re
import shlex
import shutil
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

from fairtransport.cli import main

BLOCK = re.compile(r"^```(\S+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WIDTH = "84"
EXAMPLES = Path(__file__).parents[1] / "examples"


def as_run(page):
    """Return the text of a page with the outputs that its code has now."""
    names, codes = {"__name__": "__page__"}, [0]

    def again(block):
        language, name, text = block[1], block[2], block[3]
        if name:
            Path(name).write_text(text, "utf-8")
        elif language == "python" and ">>>" in text:
            text = python_block(text, names)
        elif language == "console":
            text = console_block(text, codes)
        return f"```{language}{f' {name}' if name else ''}\n{text}```"

    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = WIDTH
    try:
        with TemporaryDirectory() as folder, chdir(folder):
            for path in EXAMPLES.glob("*.csv"):
                shutil.copy(path, folder)
            return BLOCK.sub(again, page)
    finally:
        os.environ.pop("COLUMNS") if before is None else os.environ.update(COLUMNS=before)


def python_block(text, names):
    """Run the examples of a block, and put what each shows below it."""
    parts = []
    for example in doctest.DocTestParser().get_examples(text):
        first, *others = example.source.splitlines()
        parts.append("\n".join([f">>> {first}", *(f"... {line}" for line in others)]) + "\n")
        with redirect_stdout(io.StringIO()) as shown:
            exec(compile(example.source, "<page>", "single"), names)  # noqa: S102 - our own pages
        parts.append(bare(shown.getvalue()))
    return "".join(parts)


def console_block(text, codes):
    """Run the commands of a block; what one prints ends where the next begins."""
    parts = []
    for command in re.findall(r"^\$ ((?:.*\\\n)*.*)$", text, re.MULTILINE):
        parts.append(f"$ {command}\n")
        if command == "echo $?":
            parts.append(f"{codes[-1]}\n")
            continue
        words = shlex.split(command.replace("\\\n", " "))
        if words[0] != "fairtransport":
            msg = f"a page runs fairtransport and nothing else, not {words[0]}"
            raise ValueError(msg)
        with redirect_stdout(io.StringIO()) as shown, redirect_stderr(shown):
            codes.append(main(words[1:]))
        parts.append(bare(shown.getvalue()))
    return "".join(parts)


def bare(printed):
    """Leave out the blanks at the ends of lines, which editors remove."""
    return "".join(f"{line.rstrip()}\n" for line in printed.splitlines())


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        path.write_text(as_run(path.read_text("utf-8")), "utf-8")
