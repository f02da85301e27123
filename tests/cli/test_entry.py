"""The installed script: every command, every exit code, and nothing that ends in a traceback."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from cyclopts.help import format_usage

import fairtransport as ft
from fairtransport.cli import main
from fairtransport.cli.entry_point import COMMANDS, app

SCRIPT = Path(sys.executable).with_name("fairtransport")
TOLD = ["--label", "good", "--prediction", "guess", "--sensitive", "race"]
ASKED = ["--label", "good", "--model", "model.skops", "--sensitive", "race", "--seed", "1"]


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        (["--version"], 0, ft.__version__),
        (["--help"], 0, "Audit machine-learning models for individual bias."),
        (["audit", "--help"], 0, "--sensitive"),
        (["audit", "people.csv", *TOLD], 0, "Errors, among people with equal"),
        (["audit", "people.csv", *ASKED, "--delta", "0.01"], 3,
         "that would become wrong with another race; limit 1 % people.csv, 400 people"),
        (["audit", "people.csv", *ASKED, "--delta", "0.01", "--verbose"], 3,
         "δ-fairness rejected at level 5 %"),
        (["audit", "people.csv", *ASKED, "--delta", "0.3", "--levels.race", "a,b"], 0,
         "WITHIN THE LIMIT at most 3.9 % of people have a correct decision that would"),
        (["audit", "people.csv", *ASKED, "--delta", "0.3", "--levels.race", "a,b", "--verbose"], 0,
         "δ-fairness certified at level 5 %"),
        (["audit", "people.csv", *TOLD, "--delta", "0.3", "--fail-on", "not-certified"], 4,
         "; limit 30 people.csv, 400 people"),
        (["audit", "people.csv", *TOLD, "--delta", "0.3", "--fail-on", "not-certified",
          "--verbose"], 4, "Not settled at level 5 %"),
        (["sample-size", "--value", "0.06", "--delta", "0.03"], 0, "an audit rejects δ-fairness"),
        (["completion", "bash"], 0, "sample-size"),
        (["reproduce"], 0, "figure1"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else None,
)  # fmt: skip
def test_commands_and_their_exit_codes(line, code, words, run):
    done = run(*line)

    assert (done.code, done.err) == (code, "")
    assert words in done.words


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        (["audit", "broken.parquet", *TOLD], 1, "the file 'broken.parquet' could not be read"),
        (["audit", "people.csv", *TOLD, "--alpha", "2"], 2, "`--alpha` must be a number above 0"),
        (["audit", "people.csv", *TOLD, "--alpha", "x"], 2, "`--alpha` must be a number"),
        (["audti"], 2, "'audti' is no command of `fairtransport`"),
    ],
)
def test_errors_and_their_exit_codes(line, code, message, run):
    done = run(*line)

    assert (done.code, done.out) == (code, "")
    assert done.err.startswith(f"Error: {message}")
    assert done.err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        ["--version"],
        ["audit", "people.csv", *ASKED, "--delta", "0.01"],
        ["audit", "people.csv", *TOLD, "--alpha", "2"],
        ["audti"],
    ],
    ids=lambda line: " ".join([*line[:1], *line[-2:]]),
)
def test_the_script_is_the_entry_point_in_a_process_of_its_own(line, shell, run):
    alone = shell(*line)

    assert alone == run(*line)
    assert alone.code == {"--version": 0, "0.01": 3, "2": 2, "audti": 2}[line[-1]]


def test_the_monitor_and_its_exit_codes(run, tmp_path):
    line = ["monitor", "people.csv", *TOLD, "--delta", "0.001", "--state", tmp_path / "s"]

    first, again = run(*line), run(*line, "--quiet", "--fail-on", "never")

    assert (first.code, first.err) == (3, "")
    assert "δ = 0.001: δ-fairness rejected at level 5 % at case" in first.words
    assert again == (0, "", "")


@pytest.mark.slow
def test_the_monitor_follows_a_file_from_run_to_run(shell, folder, tmp_path):
    lines = (folder / "people.csv").read_text().splitlines(keepends=True)
    cases = tmp_path / "growing.csv"
    settings = ["--label", "good", "--model", "model.skops", "--sensitive", "race",
                "--levels.race", "a,b", "--features", "race,age"]  # fmt: skip
    codes = []
    for end in (10, len(lines)):
        cases.write_text("".join(lines[:end]))
        done = shell("monitor", cases, "--state", tmp_path / "s", *settings, "--delta", "0.001")
        codes.append(done.code)

    assert codes == [0, 3]
    assert "δ-fairness rejected" in done.words
    again = shell("monitor", cases, "--state", tmp_path / "s", *settings, "--delta", "0.001",
                  "--fail-on", "never", "--quiet")  # fmt: skip
    assert again == (0, "", "")


def test_a_stream_keeps_its_model(run, tmp_path):
    settings = ["--label", "good", "--sensitive", "race", "--levels.race", "a,b", "--features",
                "race,age", "--delta", "0.3", "--state", tmp_path / "s"]  # fmt: skip

    first = run("monitor", "people.csv", *settings, "--model", "model.skops")
    other = run("monitor", "people.csv", *settings, "--model", "model.pkl", "--allow-pickle")

    assert (first.code, other.code) == (0, 2)
    assert other.err.startswith("Error: `--model` must be the file of the saved state, SHA-256 '")
    certified = run("monitor", "people.csv", *settings, "--model", "model.skops", "--fail-on",
                    "not-certified")  # fmt: skip
    assert certified.code == 0
    assert "certified at level 5 %" in certified.words


def test_a_stream_without_a_certificate_can_fail(run, tmp_path):
    done = run("monitor", "people.csv", *TOLD, "--delta", "0.3", "--state", tmp_path / "s",
               "--fail-on", "not-certified")  # fmt: skip

    assert done.code == 4


# -- tracebacks


@pytest.mark.parametrize("place", [0, 1, 2, None])
def test_debug_shows_where_an_error_comes_from_anywhere_on_the_line(place, run):
    line = ["audit", "people.csv", *TOLD, "--budget", "-1"]
    at = len(line) if place is None else place

    done = run(*line[:at], "--debug", *line[at:])

    assert done.code == 2
    assert done.err.startswith("Traceback (most recent call last):")
    assert done.err.endswith("Error: `--budget` must be a number of at least 0, got -1.0\n")


def test_debug_after_a_lone_dash_dash_is_an_argument(run):
    assert "must be a file of type" in run("audit", "--", "--debug").err


@pytest.mark.parametrize("debug", [[], ["--debug"]])
def test_a_defect_is_called_one(debug, run, monkeypatch):
    def broken(*_, **__):
        raise KeyError("secret\nline")  # noqa: EM101, TRY003

    monkeypatch.setattr(import_module("fairtransport.audits"), "audit_with", broken)
    done = run("audit", "people.csv", *TOLD, *debug)

    assert done.code == 1
    assert done.err.splitlines()[-1].startswith(
        r"Error: This is a defect of fairtransport (KeyError: 'secret\nline')"
    )
    assert ("Traceback" in done.err) == bool(debug)
    assert ("--debug" in done.err.splitlines()[-1]) != bool(debug)


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), 130, ""),
        (MemoryError(), 1, "Error: there is not enough memory for this audit; audit a random"),
        (PermissionError(13, "Permission denied", "cases.csv"), 1,
         "Error: 'cases.csv' could not be read or written: Permission denied"),
        (OSError(28, "No space left on device"), 1,
         "Error: the output could not be read or written: No space left on device"),
    ],
)  # fmt: skip
def test_what_the_system_does_not_allow_is_one_sentence(error, code, message, run, monkeypatch):
    def broken(*_, **__):
        raise error

    monkeypatch.setattr(import_module("fairtransport.audits"), "audit_with", broken)
    done = run("audit", "people.csv", *TOLD)
    error.with_traceback(None)  # lets go of the open data

    assert done.code == code
    assert done.err.startswith(message)
    assert "Traceback" not in done.err


INTERRUPTED = """
import os, signal, sys, time
from importlib import import_module

# whoever started the tests may have had interrupts ignored
signal.signal(signal.SIGINT, signal.default_int_handler)

def interrupted(*_, **__):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)

import_module("fairtransport.audits").audit_with = interrupted
from fairtransport.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_an_interrupt_from_the_keyboard_is_quiet(folder):
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, "audit", "people.csv", *TOLD], capture_output=True,
        check=False, cwd=folder,
    )  # fmt: skip

    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.mark.slow
def test_a_closed_pipe_is_quiet(folder):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [SCRIPT, "audit", "--help"], stdout=write, stderr=subprocess.PIPE, check=False, cwd=folder
    )
    os.close(write)

    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device")  # noqa: PTH110
def test_a_full_disk_is_said(folder):
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [SCRIPT, "audit", "people.csv", *TOLD], stdout=full, stderr=subprocess.PIPE,
            check=False, cwd=folder, text=True,
        )  # fmt: skip

    assert done.returncode == 1
    assert done.stderr == (
        "Error: the output could not be read or written: No space left on device\n"
    )


@pytest.mark.slow
def test_a_terminal_without_greek_letters_gets_something_else(shell):
    line = ["audit", "people.csv", *ASKED, "--delta", "0.01", "--verbose"]
    done = shell(*line, env={"PYTHONIOENCODING": "ascii"})

    assert (done.code, done.err) == (3, "")
    assert "?-fairness rejected at level 5 %" in done.words


def test_warnings_are_notes(run, monkeypatch):
    import warnings

    from fairtransport.audits import audit_with

    def warned(*arguments, **options):
        warnings.warn("the model is old", stacklevel=1)
        return audit_with(*arguments, **options)

    monkeypatch.setattr(import_module("fairtransport.audits"), "audit_with", warned)
    monkeypatch.setattr("warnings.filters", [("always", None, Warning, None, 0)])
    done = run("audit", "people.csv", *TOLD, "--quiet")

    assert done == (0, "", "Note: the model is old\n")


def test_python_dash_m_is_the_same(folder):
    done = subprocess.run(
        [sys.executable, "-m", "fairtransport", "audit"], capture_output=True, text=True,
        check=False, cwd=folder,
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Error: `fairtransport audit` needs `DATA`\n"


def test_main_takes_the_arguments_of_the_process(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["fairtransport", "--version"])

    assert main() == 0
    assert capsys.readouterr().out == f"{ft.__version__}\n"


@pytest.mark.slow
def test_the_demo_and_the_figures_are_written_by_the_script(shell, tmp_path):
    demo = shell("demo", "--output", tmp_path / "report.html", "--verbose")
    figure = shell("reproduce", "figure4", "--output", tmp_path)

    assert (demo.code, figure.code) == (0, 0)
    assert "δ-fairness rejected at level 5 %" in demo.words
    assert {path.name for path in tmp_path.iterdir()} == {
        "report.html", "figure4.png", "figure4.svg", "figure4.csv",
    }  # fmt: skip


def test_the_list_of_commands_says_what_each_says_of_itself():
    for name, command in COMMANDS.items():
        assert " ".join(app[name].help.split("\n\n")[0].split()) == command.sentence


@pytest.mark.parametrize("name", [name for name, command in COMMANDS.items() if command.usage])
def test_a_usage_that_is_written_down_is_that_of_the_flags(name):
    command = app[name]
    usage = " ".join(format_usage(app, [name], execution_path=[app, command]).plain.split())

    assert command.usage == f"Usage: {usage}"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_asked_for_at_once_is_that_found_in_a_line(name, capsys):
    pages = []
    for line in ([name, "--help"], [name, "-h"], ["--help", name]):
        assert main(line) == 0
        pages.append(capsys.readouterr().out)

    assert pages[0].startswith(f"Usage: fairtransport {name}")
    assert pages[0] == pages[1] == pages[2]
