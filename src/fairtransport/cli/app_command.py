"""fairtransport app: audits in the browser."""

from __future__ import annotations

from contextlib import suppress

from fairtransport.cli.argument_types import Switch, Whole
from fairtransport.cli.exits import RAN
from fairtransport.cli.wording import naming


def app(*, port: Whole = 0, no_open: Switch = False, quiet: Switch = False) -> int:
    """Audit in the browser, without programming: a page on this machine alone.

    Choose a file, say what its columns mean, start, read the report, look up single cases. Nothing
    that you hand over leaves this machine; it is removed when the command ends (Ctrl-C).

    Parameters
    ----------
    port
        The port of this machine to listen at; default: a free one.
    no_open
        Open no browser; the address is printed all the same.
    quiet
        Print nothing but the address and errors.
    """
    from fairtransport.app.server import serve
    from fairtransport.report.screen import print_note

    def say(address: str) -> None:
        print(address, flush=True)  # noqa: T201 - as it is, to be clicked or read by a program
        if not quiet:
            print_note("Only who has this address can look; press Ctrl-C to end.", error=True)

    # an interruption is how the command ends
    with suppress(KeyboardInterrupt), naming(port="--port"):
        serve(port, say, opens=not no_open)
    return RAN
