"""fairtransport reproduce: figures and tables of the papers, one command each."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from cyclopts import App

from fairtransport.cli.argument_types import Seed, Switch, Whole
from fairtransport.cli.exits import RAN
from fairtransport.cli.wording import naming
from fairtransport.progress import silence

reproduce = App(name="reproduce", help="Remake the papers' figures and tables.")


FIGURES = {
    1: "the sampling law beside its limit and beside the bootstrap",
    2: "the change in counts under the optimal plan, for both labels",
    3: "accuracy and FaiTH along the l1 path, and the chosen model",
    4: "the coefficients along the l1 path",
}


def _figure(number: int, shows: str) -> Callable[..., int]:
    """Return the command that writes a figure.

    Parameters
    ----------
    number
        Of the figure in the paper.
    shows
        What it shows, for the help.
    """
    name = f"figure{number}"

    def write(*, output: Path = Path(), seed: Seed = 0, quiet: Switch = False) -> int:
        from fairtransport.report.screen import print_written
        from fairtransport.reproduce.figure_files import write_figure

        with silence() if quiet else nullcontext():
            written = write_figure(output, number, seed)
        if not quiet:
            print_written(written)
        return RAN

    write.__doc__ = f"""Write Figure {number}: {shows}.

    Parameters
    ----------
    output
        The folder for {name}.png, {name}.svg and {name}.csv.
    seed
        {"The seed of the simulation." if number == 1 else "Which random split to take."}
    quiet
        Print nothing but errors.
    """
    return write


for _number, _shows in FIGURES.items():
    reproduce.command(_figure(_number, _shows), name=f"figure{_number}")


@reproduce.command
def table1(
    *,
    splits: Whole = 50,
    output: Path = Path(),
    jobs: Whole | None = None,
    seed: Seed = 0,
    cache: Path | None = None,
    quiet: Switch = False,
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
    quiet
        Print nothing but errors.
    """
    from fairtransport.report.screen import print_written
    from fairtransport.reproduce.table1 import table1 as run
    from fairtransport.reproduce.table1_files import print_table1, write_table1

    with naming(), silence() if quiet else nullcontext():
        found = run(
            splits,
            seed=seed,
            cache=output / "table1-cache" if cache is None else cache,
            jobs=os.cpu_count() or 1 if jobs is None else jobs,
        )
    written = write_table1(found, output)
    if not quiet:
        print_table1(found)
        print_written(written)
    return RAN


@reproduce.command
def adult_networks(
    *,
    seeds: Whole = 10,
    people: Whole | None = None,
    output: Path = Path(),
    seed: Seed = 0,
    cache: Path | None = None,
    quiet: Switch = False,
) -> int:
    """Remake the follow-up's Adult study: four models, its test and an audit side by side.

    Parameters
    ----------
    seeds
        The number of random splits and trainings; 1 gives a quick look.
    people
        At most how many people are audited; default: a fifth of all.
    output
        The folder for adult-networks.md, adult-networks.csv and adult-networks.json.
    seed
        The first seed.
    cache
        The folder that keeps finished models, so that a run can be taken up again; default:
        adult-networks-cache in the output folder.
    quiet
        Print nothing but errors.
    """
    from fairtransport.report.screen import print_written
    from fairtransport.reproduce.adult_networks import StudySettings
    from fairtransport.reproduce.adult_networks import adult_networks as run
    from fairtransport.reproduce.adult_networks_files import (
        print_adult_networks,
        write_adult_networks,
    )

    flags = naming(seeds="--seeds", people="--people")
    with flags, silence() if quiet else nullcontext():
        found = run(
            seeds,
            cache=output / "adult-networks-cache" if cache is None else cache,
            seed=seed,
            settings=StudySettings(people=people),
        )
    written = write_adult_networks(found, output)
    if not quiet:
        print_adult_networks(found)
        print_written(written)
    return RAN
