"""fairtransport reproduce: the paper's figures and tables, one command each.

A further one is a function here with ``@reproduce.command`` above it.
"""

from __future__ import annotations

from pathlib import Path

from cyclopts import App

from fairtransport.cli.exits import RAN
from fairtransport.cli.values import Seed

reproduce = App(name="reproduce", help="Remake the paper's figures and tables.")


@reproduce.command
def figure1(*, output: Path = Path(), seed: Seed = 0) -> int:
    """Write Figure 1: the sampling law beside its limit and beside the bootstrap.

    Parameters
    ----------
    output
        The folder for figure1.png, figure1.svg and figure1.csv.
    seed
        The seed of the simulation.
    """
    from fairtransport.console import print_written
    from fairtransport.reproduce.figure1 import write_figure1

    print_written(write_figure1(output, seed))
    return RAN
