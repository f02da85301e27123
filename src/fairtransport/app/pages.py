"""The first pages: choose a file, say what its columns mean and what is asked, start."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, JSONResponse, RedirectResponse

from fairtransport.app.examples import EXAMPLES, example
from fairtransport.app.form import ROLES, SIMILARITIES, Filled, fill, is_scaled, roles_of
from fairtransport.app.jobs import Jobs
from fairtransport.app.meaning import budget_means, delta_means
from fairtransport.app.rendering import page
from fairtransport.app.tables import Table
from fairtransport.app.uploads import LARGEST, read_form, too_large_sentence
from fairtransport.errors import FairtransportError, InputError
from fairtransport.settings import SETTINGS
from fairtransport.space.shards import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

REFUSED, TOO_LARGE, ABSENT = 422, 413, 404


@dataclass
class Desktop:
    """What a server holds: its folder, the files that were chosen, the audits."""

    folder: Path
    tables: dict[str, Table] = field(default_factory=dict)
    jobs: Jobs = field(default_factory=Jobs)


def desktop_of(request: Request) -> Desktop:
    """Return what the server holds."""
    desktop: Desktop = request.app.state.desktop
    return desktop


def absent(what: str) -> Response:
    """Return the page of what is not there, or no longer."""
    return page("absent", ABSENT, what=what)


async def start(request: Request) -> Response:
    """Show the first page."""
    return _start_page(request, {}, {})


def _start_page(
    request: Request, typed: Mapping[str, str], errors: Mapping[str, str], status: int = 200
) -> Response:
    return page(
        "start", status, typed=typed, errors=errors, examples=EXAMPLES, largest=LARGEST,
        endings=", ".join(KINDS), jobs=list(desktop_of(request).jobs),
    )  # fmt: skip


async def choose(request: Request) -> Response:
    """Take a file: an example, a path or one that is handed over."""
    desktop = desktop_of(request)
    typed = await read_form(request, desktop.folder)
    if typed.too_large:
        announced = int(request.headers.get("content-length") or LARGEST + 1)
        errors = {"file": too_large_sentence(max(announced, LARGEST + 1))}
        return _start_page(request, typed.words, errors, TOO_LARGE)
    way = typed.words.get("way", "")
    try:
        if way in EXAMPLES:
            folder = desktop.folder / token_hex(4)
            folder.mkdir()
            table = await run_in_threadpool(example, way, folder)
        elif way == "file" and "file" in typed.files:
            upload = typed.files["file"]
            table = Table(upload.path, upload.shown, is_ours=True)
        else:
            table = Table(_place(typed.words.get("path", "")), typed.words.get("path", "").strip())
        await run_in_threadpool(lambda: table.overview)
    except FairtransportError as error:
        sentence = str(error)
        if way == "file" and "file" in typed.files:
            upload = typed.files["file"]
            sentence = sentence.replace(str(upload.path), upload.shown)
            sentence = sentence.replace(upload.path.name, upload.shown)
            upload.path.unlink(missing_ok=True)
        return _start_page(request, typed.words, {way or "path": sentence}, REFUSED)
    except (OSError, ValueError) as error:
        errors = {way or "path": f"`X` could not be read: {error}"}
        return _start_page(request, typed.words, errors, REFUSED)
    if not table.typed:
        table.typed = {"data_name": Path(table.shown).name, "answers": "column"}
    desktop.tables[table.key] = table
    return RedirectResponse(f"/tables/{table.key}", 303)


def _place(path: str) -> Path:
    """Return a path as it was typed; the sign for a home folder stands for it."""
    if not path.strip():
        msg = f"`X` must be a file of type {', '.join(KINDS)}, or a folder of them, got nothing"
        raise InputError(msg)
    typed = Path(path.strip())
    try:
        return typed.expanduser()
    except RuntimeError:  # nobody is called so
        return typed


async def describe(request: Request) -> Response:
    """Show the columns of a file and the form of an audit."""
    desktop = desktop_of(request)
    table = desktop.tables.get(request.path_params["table"])
    if table is None:
        return absent("file")
    job = desktop.jobs.get(request.query_params.get("from", ""))
    filled = Filled(table.typed if job is None else job.typed)
    if job is not None and job.state == "failed":
        filled.refuse(job.sentence)
    return _form_page(table, filled)


def _form_page(table: Table, filled: Filled, status: int = 200) -> Response:
    typed = filled.typed
    roles = roles_of(table, typed)
    counts = next((name for name, role in roles.items() if role == "counts"), None)
    n = table.people(counts)
    loss = typed.get("loss") or "zero-one"
    return page(
        "table", status, table=table, typed=typed, errors=filled.errors, roles=ROLES,
        role_of=roles, similarities=SIMILARITIES, settings=SETTINGS, people=n, largest=LARGEST,
        is_scaled=is_scaled,
        delta_means=delta_means(typed.get("delta", ""), n, loss),
        budget_means=budget_means(table, typed),
    )  # fmt: skip


async def kept(request: Request) -> Response:
    """Hand over a copy of a file of cases, or of a model, that is kept here."""
    table = desktop_of(request).tables.get(request.path_params["table"])
    which = request.path_params["which"]
    if table is None or not ((table.is_ours and which == "data") or which in table.models):
        return absent("file")
    path, name = (
        (table.path, table.shown)
        if which == "data"
        else (table.models[which].path, table.models[which].shown)
    )
    return FileResponse(path, media_type="application/octet-stream", filename=name)


async def means(request: Request) -> Response:
    """Say what a threshold and a budget mean, while they are typed."""
    table = desktop_of(request).tables.get(request.path_params["table"])
    if table is None:
        return JSONResponse({}, ABSENT)
    typed = dict(request.query_params)
    counts = next((name for name, role in roles_of(table, typed).items() if role == "counts"), None)
    n = await run_in_threadpool(table.people, counts)
    said = {
        "delta": delta_means(typed.get("delta", ""), n, typed.get("loss") or "zero-one"),
        "budget": budget_means(table, typed),
    }
    return JSONResponse(said)


async def begin(request: Request) -> Response:
    """Start an audit, or show beside each field what is wrong with it."""
    desktop = desktop_of(request)
    table = desktop.tables.get(request.path_params["table"])
    if table is None:
        return absent("file")
    form = await read_form(request, desktop.folder)
    typed: dict[str, Any] = dict(form.words)
    if form.too_large:
        announced = int(request.headers.get("content-length") or LARGEST + 1)
        filled = Filled(typed)
        filled.refuse(too_large_sentence(max(announced, LARGEST + 1)), "form")
        return await run_in_threadpool(_form_page, table, filled, TOO_LARGE)
    for name, upload in form.files.items():
        # a browser does not fill in a file again: it stays here, and the form says so
        key = token_hex(8)
        table.models[key] = upload
        typed[f"kept_{name}"] = key
    filled = await run_in_threadpool(fill, table, typed, form.files)
    if filled.asked is not None:
        try:
            job = desktop.jobs.start(filled.asked, typed, table.key)
        except FairtransportError as error:
            filled.refuse(str(error), "form")
        else:
            return RedirectResponse(f"/audits/{job.key}", 303)
    return await run_in_threadpool(_form_page, table, filled, REFUSED)
