"""fairtransport completion: what a shell needs to complete commands and flags."""

from __future__ import annotations

import sys
from typing import Literal

from fairtransport.cli.exits import RAN


def completion(shell: Literal["bash", "zsh", "fish"], /) -> int:
    """Print the completion script of a shell.

    A shell reads it at its start, as in: source <(fairtransport completion bash)

    Parameters
    ----------
    shell
        bash, zsh or fish.
    """
    from fairtransport.cli.app import app

    sys.stdout.write(app.generate_completion(shell=shell))
    return RAN
