"""The pages of one audit: how far it is, its report, other budgets and thresholds, one case."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from fairtransport.app import case_words
from fairtransport.app.desk import FILES, LINE, MOVES
from fairtransport.app.guard import REPORT_POLICY
from fairtransport.app.jobs import DONE, Job
from fairtransport.app.pages import REFUSED, absent, desktop_of
from fairtransport.app.rendering import page
from fairtransport.app.repeating import NO_LINE, command_line, python_code
from fairtransport.errors import FairtransportError, InputError

if TYPE_CHECKING:
    from starlette.requests import Request

MOST_DIGITS = 15
TYPES = {
    "html": "text/html", "md": "text/markdown", "json": "application/json", "csv": "text/csv",
    "sh": "text/x-shellscript", "py": "text/x-python",
}  # fmt: skip


def _job(request: Request) -> Job | None:
    return desktop_of(request).jobs.get(request.path_params["audit"])


def _finished(request: Request) -> Job | None:
    """Return an audit that has a result to show."""
    job = _job(request)
    return job if job is not None and job.state == DONE else None


async def show(request: Request) -> Response:
    """Show an audit: how far it is, why it failed, or its report."""
    job = _job(request)
    if job is None:
        return absent("audit")
    return page("framed" if job.state == DONE else "progress", job=job, here="report")


async def state(request: Request) -> Response:
    """Tell how far an audit is."""
    job = _job(request)
    if job is None:
        return JSONResponse({"state": "absent"}, 404)
    told = job.told
    return JSONResponse(
        {"state": job.state, "words": told.words, "done": told.done, "total": told.total}
    )


async def cancel(request: Request) -> Response:
    """End an audit that is not done."""
    job = _job(request)
    if job is None:
        return absent("audit")
    await run_in_threadpool(job.cancel)
    return RedirectResponse(f"/audits/{job.key}", 303)


async def remove(request: Request) -> Response:
    """End an audit and forget it."""
    await run_in_threadpool(desktop_of(request).jobs.remove, request.path_params["audit"])
    return RedirectResponse("/", 303)


async def report(request: Request) -> Response:
    """Show the report alone, for the frame: it runs in a sandbox."""
    job = _finished(request)
    if job is None:
        return absent("report")
    text = await run_in_threadpool(job.ask, "report")
    return HTMLResponse(text, headers={"content-security-policy": REPORT_POLICY})


async def explore(request: Request) -> Response:
    """Show an audit at another budget, beside another threshold."""
    job = _finished(request)
    if job is None or job.asked.compares:
        return absent("audit")
    typed = {name: request.query_params.get(name, "").strip() for name in ("budget", "delta")}
    values: dict[str, Any] = {"job": job, "here": "explore", "typed": typed, "errors": {}}
    numbers: dict[str, float | None] = {}
    for name, text in typed.items():
        try:
            numbers[name] = float(text) if text else None
        except ValueError:
            values["errors"][name] = f"`{name}` must be a number, got {text!r}"
    look = None
    if not values["errors"]:
        try:
            look = await run_in_threadpool(job.ask, "look", **numbers)
        except FairtransportError as error:
            sentence = str(error)
            values["errors"]["budget" if "`budget`" in sentence else "delta"] = sentence
    part = "part" in request.query_params
    status = REFUSED if values["errors"] else 200
    return page("look" if part else "explore", status, look=look, **values)


async def case(request: Request) -> Response:
    """Show one case beside those with whom it is compared."""
    job = _finished(request)
    if job is None or job.asked.compares:
        return absent("audit")
    typed, point = (request.query_params.get(name, "").strip() for name in ("row", "point"))
    values: dict[str, Any] = {
        "affected": await run_in_threadpool(job.ask, "affected"),
        "job": job, "here": "case", "typed": typed, "error": "", "words": case_words, "case": None,
    }  # fmt: skip
    which = "row" if typed else "point"
    if typed or point:
        try:
            number = checked_whole(which, typed or point)
            values["case"] = await run_in_threadpool(job.ask, "case", **{which: number})
        except FairtransportError as error:
            values["error"] = str(error)
    return page("case", REFUSED if values["error"] else 200, **values)


def checked_whole(name: str, text: str) -> int:
    """Return the whole number that was typed."""
    if not text.lstrip("-").isdecimal() or len(text) > MOST_DIGITS:
        msg = f"`{name}` must be a whole number, got {text!r}"
        raise InputError(msg)
    return int(text)


async def repeat(request: Request) -> Response:
    """Show what can be taken along, and how the audit is repeated."""
    job = _finished(request)
    if job is None:
        return absent("audit")
    line = command_line(job.asked)
    table = desktop_of(request).tables.get(job.table)
    used = {one.model for one in job.asked.answering}
    kept = {} if table is None else table.models
    models = {key: model for key, model in kept.items() if model.path in used}
    return page(
        "repeat", job=job, here="repeat", files=_names(job), line=line, no_line=NO_LINE,
        code=python_code(job.asked), table=table, models=models,
    )  # fmt: skip


def _names(job: Job) -> list[str]:
    """Return the files that an audit has."""
    absent_here = {MOVES} if job.asked.compares else set()
    if command_line(job.asked) is None:
        absent_here.add(LINE)
    return [name for name in FILES if name not in absent_here]


async def file(request: Request) -> Response:
    """Hand over one of the files."""
    job, name = _finished(request), request.path_params["name"]
    if job is None or name not in _names(job):
        return absent("file")
    data = await run_in_threadpool(job.ask, "file", name=name)
    kind = TYPES[name.rpartition(".")[2]]
    headers = {
        "content-disposition": f'attachment; filename="{name}"',
        "content-security-policy": "sandbox; default-src 'none'",
    }
    return Response(data, media_type=kind, headers=headers)
