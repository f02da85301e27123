"""Charts that notebooks show without a network: the JavaScript comes with them."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from altair.typing import ChartType

OPTIONS = {"mode": "vega-lite", "renderer": "svg", "actions": False}
PAGE = """<div id="{name}">{picture}</div>
<script>
if (!window.fairtransportEmbed) {{
(function () {{
const amd = window.define;
window.define = undefined;
{bundle}
window.define = amd;
window.fairtransportEmbed = window.vegaEmbed;
}})();
}}
window.fairtransportEmbed(document.getElementById("{name}"), {spec}, {options});
</script>"""
"""Where scripts do not run, the picture that was drawn beforehand stays."""


def offline(chart: ChartType) -> ChartType:
    """Return the chart as one that a notebook shows with scripts from the disk alone.

    Altair's own would load them from the network. It is an Altair chart as before.

    Parameters
    ----------
    chart
        Left as it is; a shallow copy of another class is returned.
    """
    made: Any = chart.copy(deep=False)
    # a chart takes what is set on it for a part of its document
    kind: Any = type(chart)
    object.__setattr__(made, "__class__", _offline_kind(kind))
    return made  # type: ignore[no-any-return]


@cache
def _offline_kind(kind: type[Any]) -> type[Any]:
    """Return the kind of chart, shown in another way.

    Parameters
    ----------
    kind
        A class of Altair's; one subclass of each is made.
    """
    return type(kind.__name__, (kind,), {"_repr_mimebundle_": _shown, "__doc__": kind.__doc__})


def _shown(chart: Any, *_: Any, **__: Any) -> dict[str, Any]:
    """Return what a notebook shows: the picture, alive where scripts run.

    Parameters
    ----------
    chart
        The chart; its alternative text is what a terminal shows.
    """
    import vl_convert

    from fairtransport.report.bundle import javascript_bundle
    from fairtransport.report.html import safe_json

    spec = chart.to_dict()
    text = json.dumps(spec, sort_keys=True)
    page = PAGE.format(
        # the same name for the same chart
        name=f"fairtransport-{hashlib.sha256(text.encode()).hexdigest()[:16]}",
        picture=vl_convert.vegalite_to_svg(spec),
        bundle=javascript_bundle(),
        spec=safe_json(spec),
        options=json.dumps(OPTIONS),
    )
    return {"text/html": page, "text/plain": spec.get("description", repr(chart))}
