"""fairtransport reproduce: the paper's figures and tables, one command each.

A further one is a function here with ``@reproduce.command`` above it.
"""

from __future__ import annotations

import os
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


@reproduce.command
def figure2(*, output: Path = Path(), seed: Seed = 0) -> int:
    """Write Figure 2: the change in counts under the optimal plan, for both labels.

    Parameters
    ----------
    output
        The folder for figure2.png, figure2.svg and figure2.csv.
    seed
        Which random split to take.
    """
    from fairtransport.console import print_written
    from fairtransport.reproduce.figure2 import write_figure2

    print_written(write_figure2(output, seed))
    return RAN


@reproduce.command
def figure3(*, output: Path = Path(), seed: Seed = 0) -> int:
    """Write Figure 3: accuracy and FaiTH along the l1 path, and the chosen model.

    Parameters
    ----------
    output
        The folder for figure3.png, figure3.svg and figure3.csv.
    seed
        Which random split to take.
    """
    from fairtransport.console import print_written
    from fairtransport.reproduce.figure3 import write_figure3

    print_written(write_figure3(output, seed))
    return RAN


@reproduce.command
def figure4(*, output: Path = Path(), seed: Seed = 0) -> int:
    """Write Figure 4: the coefficients along the l1 path.

    Parameters
    ----------
    output
        The folder for figure4.png, figure4.svg and figure4.csv.
    seed
        Which random split to take.
    """
    from fairtransport.console import print_written
    from fairtransport.reproduce.figure4 import write_figure4

    print_written(write_figure4(output, seed))
    return RAN


@reproduce.command
def table1(
    *,
    splits: int = 50,
    output: Path = Path(),
    jobs: int | None = None,
    seed: Seed = 0,
    cache: Path | None = None,
) -> int:
    """Remake Table 1: five methods audited over random splits, the paper's figures beside ours.

    Parameters
    ----------
    splits
        The number of splits; 5 give a quick look.
    output
        The folder for table1.md, table1.csv and table1.json.
    jobs
        How many processes work at the same time; default: one a processor.
    seed
        The first split's seed.
    cache
        The folder that keeps finished splits, so that a run can be taken up again; default:
        table1-cache in the output folder.
    """
    from fairtransport.console import print_table1, print_written
    from fairtransport.reproduce.table1 import table1 as run
    from fairtransport.reproduce.table1_files import write_table1

    found = run(
        splits,
        seed=seed,
        cache=output / "table1-cache" if cache is None else cache,
        jobs=os.cpu_count() or 1 if jobs is None else jobs,
    )
    print_table1(found)
    print_written(write_table1(found, output))
    return RAN
