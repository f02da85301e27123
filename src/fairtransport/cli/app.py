"""The commands and where they are found; each is loaded when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cyclopts import App, Parameter

from fairtransport import __version__

if TYPE_CHECKING:
    from cyclopts.argument import ArgumentCollection


class Command(NamedTuple):
    """Where a command is found, its sentence in the list of all, whether a file can set flags.

    Attributes
    ----------
    place
        Module and function, imported when the command is asked for.
    sentence
        As ``fairtransport --help`` lists it.
    configured
        Whether a TOML file may fill in its flags.
    """

    place: str
    sentence: str
    configured: bool = False


COMMANDS = {
    "demo": Command(
        "demo_command:demo", "Audit a logistic regression on the embedded COMPAS counts."
    ),
    "audit": Command(
        "audit_command:audit", "Audit a model, or the predictions in a file.", configured=True
    ),
    "app": Command(
        "app_command:app",
        "Audit in the browser, without programming: a page on this machine alone.",
    ),
    "combine": Command(
        "combine_command:combine",
        "Put earlier audits together: verdicts that hold for all of them.",
    ),
    "compare": Command(
        "compare_command:compare",
        "Compare models on one file of cases: which has less individual bias, and how sure that "
        "is.",
        configured=True,
    ),
    "log": Command("log_command:log", "Show what is in a query log, or hand it over."),
    "monitor": Command(
        "monitor_command:monitor",
        "Take in what was added to a file of cases, and say where the evidence stands.",
        configured=True,
    ),
    "sample-size": Command(
        "sample_size_command:sample_size",
        "Tell how many cases an audit needs to reject δ-fairness, or to certify it.",
        configured=True,
    ),
    "reproduce": Command("reproduce_command:reproduce", "Remake the papers' figures and tables."),
    "completion": Command(
        "completion_command:completion", "Print the completion script of a shell."
    ),
}


def _read_config(app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Fill in flags from a settings file, whose reader is loaded only then."""
    from fairtransport.cli.configfile import read_config

    read_config(app, commands, arguments)


def app_of(*, listed: bool) -> App:
    """Return the command line.

    Parameters
    ----------
    listed
        Whether commands have their sentences alone, so that a list of them needs none loaded;
        else what each says of itself.
    """
    made = App(
        name="fairtransport",
        help="Audit machine-learning models for individual bias.",
        version=__version__,
        version_format="plaintext",
        default_parameter=Parameter(negative=()),
        suppress_keyboard_interrupt=False,
        # the sentences have no marks in them, and a reader of marks takes as long as all the rest
        help_format="plaintext" if listed else None,
    )
    for name, command in COMMANDS.items():
        place = f"{__package__}.{command.place}"
        words = command.sentence if listed else None
        if command.configured:
            made.command(place, name=name, help=words, config=_read_config)
        else:
            made.command(place, name=name, help=words)
    return made


app = app_of(listed=False)
