"""Shell completion: scripts that shells accept and that know the commands."""

import os
import shutil
import subprocess

import pytest


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_know_commands_flags_and_choices(shell, run):
    done = run("completion", shell)

    assert (done.code, done.err) == (0, "")
    for word in ("audit", "monitor", "sample-size", "reproduce", "demo", "completion"):
        assert word in done.out
    for word in ("sensitive", "allow-pickle", "fail-on", "not-certified", "m-out-of-n"):
        assert word in done.out


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_accept_them(shell, run, tmp_path):
    if shutil.which(shell) is None:
        give_up = pytest.fail if "CI" in os.environ else pytest.skip
        give_up(f"this test needs the program `{shell}`")
    path = tmp_path / "script"
    path.write_text(run("completion", shell).out, encoding="utf-8")
    done = subprocess.run([shell, "-n", path], capture_output=True, check=False)

    assert (done.returncode, done.stderr) == (0, b"")


def test_bash_completes_a_command(run, tmp_path):
    path = tmp_path / "script"
    path.write_text(run("completion", "bash").out, encoding="utf-8")
    program = f"""
source {path}
COMP_WORDS=(fairtransport sam) COMP_CWORD=1 COMP_LINE="fairtransport sam" COMP_POINT=17
_fairtransport
echo "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(
        ["bash", "-c", program],  # noqa: S607
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.stdout.split() == ["sample-size"]
