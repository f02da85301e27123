"""Input of odd shapes ends in one sentence with the right exit code, or in a right result."""

import os
import subprocess
import sys

import pytest

TOLD = ["--label", "good", "--prediction", "guess", "--sensitive", "race"]
START = "race,age,good,guess\na,20,1,1\nb,20,1,0\n"
LINE = '{"race": "%s", "age": %s, "good": 1, "guess": 1}\n'
DEEP = "[" * 20_000 + "]" * 20_000


def one_sentence(done, code):
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith("Error: ")
    assert done.err.count("\n") == 1
    assert "defect" not in done.err
    assert len(done.err) < 400
    return done.err


@pytest.mark.odd
@pytest.mark.parametrize("command", ["audit", "monitor"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("huge.csv", START + "x" * 3_000_000 + ",20,1,1\n"),
        ("deep.jsonl", LINE % ("a", DEEP)),
        ("deeper.jsonl", LINE % ("a", '{"a":' * 3000 + "1" + "}" * 3000)),
    ],
)
def test_long_and_deep_cases_are_one_sentence(command, name, text, run, tmp_path):
    (tmp_path / name).write_text(text)
    more = ["--state", tmp_path / "s", "--delta", "0.3"] if command == "monitor" else []

    said = one_sentence(run(command, tmp_path / name, *TOLD, *more), 1)
    # newer versions of Python read deeper: then it is the value that is refused
    assert name in said or "the column 'age' must hold single values" in said


@pytest.mark.odd
@pytest.mark.parametrize("flag", ["--targets", "--train", "--similarity-settings.path"])
def test_deep_files_beside_the_cases_are_one_sentence(flag, run, tmp_path):
    (tmp_path / "deep.jsonl").write_text(LINE % ("a", DEEP))
    more = ["--similarity", "precomputed"] if "similarity" in flag else []
    done = run("audit", "people.csv", *TOLD, *more, flag, tmp_path / "deep.jsonl")

    assert "deep.jsonl" in one_sentence(done, 1) or "must hold single values" in done.err


def test_a_long_value_is_a_value(run, tmp_path):
    (tmp_path / "long.csv").write_text(START + "x" * 140_000 + ",20,1,1\n")

    assert run("audit", tmp_path / "long.csv", *TOLD, "--quiet").code == 0
    done = run("monitor", tmp_path / "long.csv", *TOLD, "--state", tmp_path / "s", "--delta", "0.3")
    assert one_sentence(done, 1) == (
        f"Error: 'long.csv' could not be read where it says '{'x' * 58}…: "
        "field larger than field limit (131072); is there a quote too many?\n"
    )


@pytest.mark.parametrize(
    "line",
    [
        ["audit", "people.csv", *TOLD[:-1], "race\udcff"],
        ["audit", "\udcff.csv", *TOLD],
        ["audit", "people.csv", *TOLD, "--bins.\udcff", "1"],
        ["audit", "people.csv", *TOLD, "--\udcff", "1"],
        ["audit", "people.csv", *TOLD[:2], *TOLD[4:], "--model", "\udcff.skops"],
        ["audit", "people.csv", *TOLD, "--config", "\udcff.toml"],
        ["audit", "people.csv", *TOLD, "--report", "\udcff"],
        ["\udcff"],
    ],
    ids=lambda line: ascii(" ".join(line[-2:])),
)
def test_half_characters_on_the_line_are_told(line, run):
    assert "\\udcff" in one_sentence(run(*line), 2)


@pytest.mark.parametrize(
    "flag",
    ["--label", "--sensitive", "--features", "--positive", "--bins.age", "--levels.race",
     "--missing", "--model", "--trust", "--prediction", "--score", "--similarity", "--loss",
     "--loss-range", "--budget", "--delta", "--alpha", "--method", "--resamples", "--seed",
     "--fail-on", "--report", "--json", "--share-at-least", "--favourable", "--privileged.race",
     "--config", "--counts", "--targets", "--train", "--similarity-settings.fit"],
)  # fmt: skip
@pytest.mark.parametrize("empty", ["", " ", "="])
def test_a_flag_is_not_empty(flag, empty, run):
    given = [f"{flag}="] if empty == "=" else [flag, empty]
    said = one_sentence(run("audit", "people.csv", *given), 2)

    assert said.startswith(f"Error: `{flag}` must not be empty, got '")


@pytest.mark.parametrize("flag", ["--sensitive", "--features", "--score", "--trust", "--bins.age"])
def test_a_list_is_not_of_commas_alone(flag, run):
    said = one_sentence(run("audit", "people.csv", flag, " , ,"), 2)

    assert "must be a list of at least one value, got ' , ,'" in said


def test_an_empty_argument_is_told(run):
    assert "an argument must not be empty" in one_sentence(run("audit", "", *TOLD), 2)
    assert "an argument must not be empty" in one_sentence(run(""), 2)


@pytest.mark.parametrize("value", ["1.5", "1.0", "1e3", "nan", "0x10", "9" * 5000, "true", "½"])
@pytest.mark.parametrize(
    ("command", "flag"),
    [
        ("audit people.csv", "--seed"),
        ("audit people.csv", "--resamples"),
        ("audit people.csv", "--share-at-least"),
        ("sample-size --delta 0.1", "--simulations"),
        ("demo", "--seed"),
    ],
)
def test_a_whole_number_is_not_rounded(command, flag, value, run):
    said = one_sentence(run(*command.split(), flag, value), 2)

    assert said.startswith(f"Error: `{flag}` must be a whole number, got '")


@pytest.mark.parametrize("flag", ["DATA", "--targets", "--train", "--model", "--config", "--json",
                                  "--report", "--similarity-settings.fit"])  # fmt: skip
def test_a_name_that_is_too_long_is_told(flag, run):
    ending = {"--model": ".skops", "--report": ".html"}.get(flag, ".csv")
    name = "x" * 300 + ending
    told = [*TOLD[:2], *TOLD[4:]] if flag == "--model" else TOLD
    data = [name] if flag == "DATA" else ["people.csv", flag, name]
    more = ["--similarity", "sensitive-subspace"] if "similarity" in flag else []
    done = run("audit", *data, *told, *more)

    said = one_sentence(done, 2)
    assert f"`{flag}` must be " in said or f"… for `{flag}`" in said


def test_a_socket_is_no_place_for_a_file(run, tmp_path, monkeypatch):
    import socket

    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s.html")
        for flag in ("--report", "--json"):
            done = run("audit", "people.csv", *TOLD, flag, tmp_path / "s.html")
            assert f"`{flag}` must not be a socket, got " in one_sentence(done, 2)


CLOSED = """
import os, sys
for number in map(int, sys.argv[1]):
    os.close(number)
os.execv(sys.executable, [sys.executable, "-m", "fairtransport", *sys.argv[2:]])
"""


def closed(streams, *line, cwd):
    done = subprocess.run(
        [sys.executable, "-c", CLOSED, streams, *map(str, line)], capture_output=True, text=True,
        check=False, cwd=cwd,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.versions
def test_a_closed_standard_output_is_an_error_only_where_it_is_needed(folder, tmp_path):
    broken = "Error: the output could not be read or written: Bad file descriptor\n"
    line = ["audit", "people.csv", *TOLD]

    assert closed("1", *line, cwd=folder) == (1, "", broken)
    assert closed("1", *line, "--json", "-", cwd=folder) == (1, "", broken)
    assert closed("01", *line, "--quiet", "--json", tmp_path / "a", cwd=folder) == (0, "", "")
    assert (tmp_path / "a").read_text().startswith("{\n")
    assert closed("012", *line, "--seed", "x", cwd=folder) == (2, "", "")


@pytest.mark.slow
@pytest.mark.versions
def test_a_reader_that_has_gone_is_no_error_of_ours(folder):
    for more in ([], ["--json", "-"]):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run(
            [sys.executable, "-m", "fairtransport", "audit", "people.csv", *TOLD, *more],
            stdout=write, stderr=subprocess.PIPE, check=False, cwd=folder,
        )  # fmt: skip
        os.close(write)
        assert (done.returncode, done.stderr) == (141, b"")
