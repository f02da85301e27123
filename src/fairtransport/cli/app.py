"""The commands and where they are found."""

from __future__ import annotations

from cyclopts import App, Parameter

from fairtransport import __version__
from fairtransport.cli.audit_command import audit
from fairtransport.cli.combine_command import combine
from fairtransport.cli.compare_command import compare
from fairtransport.cli.completion_command import completion
from fairtransport.cli.configfile import read_config
from fairtransport.cli.demo_command import demo
from fairtransport.cli.log_command import log
from fairtransport.cli.monitor_command import monitor
from fairtransport.cli.reproduce_command import reproduce
from fairtransport.cli.sample_size_command import sample_size

app = App(
    name="fairtransport",
    help="Audit machine-learning models for individual bias.",
    version=__version__,
    version_format="plaintext",
    default_parameter=Parameter(negative=()),
    suppress_keyboard_interrupt=False,
)
app.command(demo)
app.command(audit, config=read_config)
app.command(combine)
app.command(compare, config=read_config)
app.command(log)
app.command(monitor, config=read_config)
app.command(sample_size, name="sample-size", config=read_config)
app.command(reproduce)
app.command(completion)
