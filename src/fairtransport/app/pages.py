"""Pages: choose a file, describe an audit, follow it, read and use its result."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response

from fairtransport.app.form import (
    CHOICES,
    FIELD_NAMES,
    PER_CENT,
    ROLES,
    AuditForm,
    Table,
    asks_model,
    budget_means,
    fill,
    find_measure,
    good_column,
    is_scaled,
    limit_means,
    roles_of,
    typed_similarity,
)
from fairtransport.app.guard import REPORT_POLICY
from fairtransport.app.jobs import DONE, Job, Jobs
from fairtransport.app.result_views import FILES, LINE, MOVES
from fairtransport.app.roles import (
    CASE,
    COUNTS,
    LABEL,
    MAX_GROUPS,
    SENSITIVE,
    UNUSED,
    is_decision_list,
    is_group_name,
)
from fairtransport.app.uploads import MAX_UPLOAD_BYTES, Upload, read_form, too_large_sentence
from fairtransport.data.files import FILE_KINDS
from fairtransport.datasets import compas
from fairtransport.errors import FairtransportError, InputError, param, render_message
from fairtransport.report.html import dark_style_sheet, html_environment, style_sheet
from fairtransport.report.text import OUTCOME, visible
from fairtransport.settings import DOCUMENT, SETTINGS, AuditSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2 import Environment
    from starlette.requests import Request

    from fairtransport.data.preview import ColumnPreview


REFUSED, TOO_LARGE, ABSENT = 422, 413, 404


@dataclass
class Desktop:
    """State of a server: its folder, the chosen files, the audits."""

    folder: Path
    tables: dict[str, Table] = field(default_factory=dict)
    jobs: Jobs = field(default_factory=Jobs)


def desktop_of(request: Request) -> Desktop:
    """Return the state of the server."""
    desktop: Desktop = request.app.state.desktop
    return desktop


def absent(what: str) -> Response:
    """Return the page for something that does not exist, or no longer."""
    return page("absent", ABSENT, what=what)


async def start(request: Request) -> Response:
    """Show the first page."""
    return _start_page(request, {}, {})


def _start_page(
    request: Request, entries: Mapping[str, str], errors: Mapping[str, str], status: int = 200
) -> Response:
    return page(
        "start", status, entries=entries, errors=errors, examples=EXAMPLES,
        largest=MAX_UPLOAD_BYTES, endings=", ".join(FILE_KINDS),
        jobs=list(desktop_of(request).jobs),
    )  # fmt: skip


async def choose(request: Request) -> Response:
    """Accept a file: an example, a path or an upload."""
    desktop = desktop_of(request)
    entries = await read_form(request, desktop.folder, ["file"])
    if entries.too_large:
        announced = int(request.headers.get("content-length") or MAX_UPLOAD_BYTES + 1)
        errors = {"file": too_large_sentence(max(announced, MAX_UPLOAD_BYTES + 1))}
        return _start_page(request, entries.words, errors, TOO_LARGE)
    way = entries.words.get("way", "")
    upload = entries.files.get("file") if way == "file" else None
    if upload is None:
        entries.discard()
    try:
        if way in EXAMPLES:
            folder = desktop.folder / token_hex(4)
            folder.mkdir()
            table = await run_in_threadpool(example, way, folder)
        elif upload is not None:
            table = Table(upload.path, upload.shown, is_ours=True)
        else:
            table = Table(
                _place(entries.words.get("path", "")), entries.words.get("path", "").strip()
            )
        await run_in_threadpool(lambda: table.overview)
    except (FairtransportError, OSError, ValueError) as error:
        entries.discard()
        sentence = f"The file could not be read: {error}"
        if isinstance(error, FairtransportError):
            sentence = render_message(error.message, FIELD_NAMES)
        if upload is not None:
            sentence = sentence.replace(str(upload.path), upload.shown)
            sentence = sentence.replace(upload.path.name, upload.shown)
        return _start_page(request, entries.words, {way or "path": sentence}, REFUSED)
    if not table.entries:
        table.entries = table.guess()
    desktop.tables[table.key] = table
    return RedirectResponse(f"/tables/{table.key}", 303)


def _place(path: str) -> Path:
    """Return a typed path, with the home folder expanded."""
    if not path.strip():
        msg = f"choose a file of type {', '.join(FILE_KINDS)}, or a folder of them"
        raise InputError(msg)
    entries = Path(path.strip())
    try:
        return entries.expanduser()
    except RuntimeError:  # there is no such user
        return entries


async def describe(request: Request) -> Response:
    """Show the columns of a file and the form of an audit."""
    desktop = desktop_of(request)
    table = desktop.tables.get(request.path_params["table"])
    if table is None:
        return absent("file")
    job = desktop.jobs.get(request.query_params.get("from", ""))
    filled = AuditForm(table.entries if job is None else job.entries)
    if job is not None and job.state == "failed":
        filled.refuse(job.message)
    return _form_page(table, filled)


def _form_page(table: Table, filled: AuditForm, status: int = 200) -> Response:
    entries = filled.entries
    roles = roles_of(table, entries)
    groups = [column for column in table.columns if _may_be_group(column)]
    first = [one for one in groups if is_group_name(one.name) or roles[one.name] == SENSITIVE]
    return page(
        "table", status, table=table, entries=entries, errors=filled.errors, roles=ROLES,
        role_of=roles, similarities=CHOICES, settings=SETTINGS | DOCUMENT,
        people=_count_people(table, roles), largest=MAX_UPLOAD_BYTES, is_scaled=is_scaled,
        is_decision_list=is_decision_list, good_at=good_column(table, entries), first_groups=first,
        other_groups=[one for one in groups if one not in first],
        means=_meanings(table, entries),
    )  # fmt: skip


def _may_be_group(column: ColumnPreview) -> bool:
    return 1 < column.distinct <= MAX_GROUPS or is_group_name(column.name)


def _count_people(table: Table, roles: Mapping[str, str]) -> int:
    counts = next((name for name, role in roles.items() if role == COUNTS), None)
    return table.overview.count_people(counts)


def _meanings(table: Table, entries: Mapping[str, str]) -> dict[str, str]:
    """Return what the limit, the budget and the columns mean."""
    roles = roles_of(table, entries)
    limit = limit_means(table, entries, _count_people(table, roles))
    return {
        **{name: visible(text) for name, text in limit.items()},
        "budget": budget_means(table, entries),
        "alike": _alike_sentence(table, entries),
        "label": _label_sentence(table, entries),
    }


def _alike_sentence(table: Table, entries: Mapping[str, str]) -> str:
    """Return in which columns people are equal who are compared, and which are not used."""
    roles = roles_of(table, entries)
    names = {
        kind: ", ".join(visible(name) for name, role in roles.items() if role == kind)
        for kind in (CASE, UNUSED)
    }
    alike = f"People are compared with others who have equal {names[CASE]}."
    if asks_model(entries) or entries.get("similarity", IGNORE) != IGNORE:
        alike = f"Columns that describe a person: {names[CASE]}."
    unused = f"Not used: {names[UNUSED]}." if names[UNUSED] else ""
    return f"{alike if names[CASE] else ''} {unused}".strip()


def _label_sentence(table: Table, entries: Mapping[str, str]) -> str:
    """Return which column has the true labels, and whether they are used."""
    roles = roles_of(table, entries)
    label = next((visible(name) for name, role in roles.items() if role == LABEL), None)
    if label is None:
        return (
            "No column has true labels (the correct decision or outcome for each person). You do "
            "not need them."
        )
    if find_measure(table, entries).loss == OUTCOME:
        return f"{label} is not used: true labels must have the same words as the decisions."
    return f"True labels (the correct decision or outcome for each person): {label}."


async def download_copy(request: Request) -> Response:
    """Send a stored copy of a file of cases or of a model."""
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
    """Explain a limit and a budget while they are typed."""
    table = desktop_of(request).tables.get(request.path_params["table"])
    if table is None:
        return JSONResponse({}, ABSENT)
    return JSONResponse(await run_in_threadpool(_meanings, table, dict(request.query_params)))


async def begin(request: Request) -> Response:
    """Start an audit, or show errors beside the fields."""
    desktop = desktop_of(request)
    table = desktop.tables.get(request.path_params["table"])
    if table is None:
        return absent("file")
    form = await read_form(request, desktop.folder, ["model", "second_model"])
    entries: dict[str, Any] = dict(form.words)
    if form.too_large:
        announced = int(request.headers.get("content-length") or MAX_UPLOAD_BYTES + 1)
        filled = AuditForm(entries)
        filled.refuse(too_large_sentence(max(announced, MAX_UPLOAD_BYTES + 1)), "form")
        return await run_in_threadpool(_form_page, table, filled, TOO_LARGE)
    for name, upload in form.files.items():
        # browsers do not refill a field of a file: it is kept here, and the form says so
        _remove_unused_model(desktop, table, entries.get(f"kept_{name}", ""))
        key = token_hex(8)
        table.models[key] = upload
        entries[f"kept_{name}"] = key
    filled = await run_in_threadpool(fill, table, entries, form.files)
    if filled.request is not None:
        try:
            job = desktop.jobs.start(
                filled.request, find_measure(table, entries), entries, table.key
            )
        except FairtransportError as error:
            filled.refuse(error.message, "form")
        else:
            return RedirectResponse(f"/audits/{job.key}", 303)
    return await run_in_threadpool(_form_page, table, filled, REFUSED)


def _remove_unused_model(desktop: Desktop, table: Table, key: str) -> None:
    """Remove a model of a rejected form that is replaced by another one."""
    if key not in table.models or key in table.entries.values():
        return
    path = table.models[key].path
    if all(one.model != path for job in desktop.jobs for one in job.request.sources):
        del table.models[key]
        path.unlink(missing_ok=True)


MAX_DIGITS = 15
TYPES = {
    "html": "text/html", "md": "text/markdown", "json": "application/json", "csv": "text/csv",
    "sh": "text/x-shellscript", "py": "text/x-python",
}  # fmt: skip


def _job(request: Request) -> Job | None:
    return desktop_of(request).jobs.get(request.path_params["audit"])


def _finished(request: Request) -> Job | None:
    """Return an audit with a result."""
    job = _job(request)
    return job if job is not None and job.state == DONE else None


async def show(request: Request) -> Response:
    """Show an audit: its progress, its failure, or its report."""
    job = _job(request)
    if job is None:
        return absent("audit")
    if job.state == DONE:
        return _result_page("finding", job, "result")
    return page("progress", job=job)


def _result_page(template: str, job: Job, here: str, status: int = 200, **values: Any) -> Response:
    """Return a page of a finished audit."""
    assert job.done is not None  # noqa: S101
    return page(template, status, job=job, here=here, found=job.done.finding, **values)


async def full(request: Request) -> Response:
    """Show the report in a frame."""
    job = _finished(request)
    return absent("report") if job is None else _result_page("framed", job, "report")


async def follow(request: Request) -> Response:
    """Start the audit that the result recommends."""
    job = _finished(request)
    settings = None if job is None or job.done is None else job.done.finding.next_settings
    table = None if job is None else desktop_of(request).tables.get(job.table)
    if job is None or job.done is None or settings is None or table is None:
        return absent("audit")
    form = await read_form(request, desktop_of(request).folder, [])
    rightly = [
        name for at, name in enumerate(job.done.finding.other_columns)
        if form.words.get(f"legitimate.{at}") == "on"
    ]  # fmt: skip
    rules = settings["similarity_settings"] | ({"legitimate": rightly} if rightly else {})
    advised = replace(
        job.request, similarity=settings["similarity"], similarity_settings=rules,
        values={**job.request.values, "budget": settings.get("budget", 0.0)},
    )  # fmt: skip
    entries = {**job.entries, **typed_similarity(table, settings | {"similarity_settings": rules})}
    started = desktop_of(request).jobs.start(advised, job.measure, entries, job.table)
    return RedirectResponse(f"/audits/{started.key}", 303)


async def state(request: Request) -> Response:
    """Return the progress of an audit."""
    job = _job(request)
    if job is None:
        return JSONResponse({"state": "absent"}, 404)
    progress = job.progress
    return JSONResponse(
        {
            "state": job.state,
            "words": progress.words,
            "done": progress.done,
            "total": progress.total,
        }
    )


async def cancel(request: Request) -> Response:
    """End an unfinished audit."""
    job = _job(request)
    if job is None:
        return absent("audit")
    await run_in_threadpool(job.cancel)
    return RedirectResponse(f"/audits/{job.key}", 303)


async def remove(request: Request) -> Response:
    """End and remove an audit."""
    await run_in_threadpool(desktop_of(request).jobs.remove, request.path_params["audit"])
    return RedirectResponse("/", 303)


async def report(request: Request) -> Response:
    """Show the report alone, for the sandboxed frame."""
    job = _finished(request)
    if job is None:
        return absent("report")
    text = await run_in_threadpool(job.ask, "report")
    return HTMLResponse(text, headers={"content-security-policy": REPORT_POLICY})


EXPLORED = {"budget": "The budget", "limit": "The limit"}


async def explore(request: Request) -> Response:
    """Show an audit at another budget and another threshold."""
    job = _finished(request)
    if job is None or job.done is None or job.request.compares:
        return absent("audit")
    entries = {name: request.query_params.get(name, "").strip() for name in ("budget", "limit")}
    values: dict[str, Any] = {"entries": entries, "errors": {}}
    numbers: dict[str, float | None] = {}
    for name, text in entries.items():
        try:
            numbers[name] = float(text) if text else None
        except ValueError:
            values["errors"][name] = f"{EXPLORED[name]} must be a number, got {text!r}"
    limit = numbers.pop("limit", None)
    numbers["delta"] = None if limit is None else limit / job.done.finding.unit
    look = None
    if not values["errors"]:
        try:
            look = await run_in_threadpool(job.ask, "look", **numbers)
        except FairtransportError as error:
            name = "budget" if error.parameter == "budget" else "limit"
            sentence = render_message(error.message, FIELD_NAMES)
            if name == "limit" and job.done.finding.unit == PER_CENT:
                sentence = f"The limit must be a number from 0 to below 100, got {entries[name]}"
            values["errors"][name] = sentence
    part = "part" in request.query_params
    status = REFUSED if values["errors"] else 200
    template = "look" if part else "explore"
    return _result_page(template, job, "explore", status, look=look, **values)


async def case(request: Request) -> Response:
    """Show one case beside the people it is compared with."""
    job = _finished(request)
    if job is None or job.request.compares:
        return absent("audit")
    entries, point = (request.query_params.get(name, "").strip() for name in ("row", "point"))
    values: dict[str, Any] = {
        "affected": await run_in_threadpool(job.ask, "affected"),
        "entries": entries, "error": "", "case": None,
    }  # fmt: skip
    which = "row" if entries else "point"
    if entries or point:
        try:
            number = checked_whole(which, entries or point)
            values["case"] = await run_in_threadpool(job.ask, "case", **{which: number})
        except FairtransportError as error:
            values["error"] = render_message(error.message, FIELD_NAMES)
    return _result_page("case", job, "case", REFUSED if values["error"] else 200, **values)


def checked_whole(name: str, text: str) -> int:
    """Return a typed whole number."""
    if not text.lstrip("-").isdecimal() or len(text) > MAX_DIGITS:
        msg = f"{param(name)} must be a whole number, got {text!r}"
        raise InputError(msg)
    return int(text)


NO_LINE = (
    "Use the Python code: the name of a column has a comma, a dot, a quote or a space, and the "
    "command line cannot take it."
)


async def repeat(request: Request) -> Response:
    """Show the downloads, and how to repeat the audit."""
    job = _finished(request)
    if job is None:
        return absent("audit")
    line = job.request.as_command()
    table = desktop_of(request).tables.get(job.table)
    model_paths = {one.model for one in job.request.sources}
    models = {} if table is None else table.models
    models = {key: model for key, model in models.items() if model.path in model_paths}
    return _result_page(
        "repeat", job, "repeat", files=_names(job), line=line, no_line=NO_LINE,
        code=job.request.as_python(), table=table, models=models,
    )  # fmt: skip


def _names(job: Job) -> list[str]:
    """Return the names of an audit's files."""
    absent_here = {MOVES} if job.request.compares else set()
    if job.request.as_command() is None:
        absent_here.add(LINE)
    return [name for name in FILES if name not in absent_here]


async def file(request: Request) -> Response:
    """Send one of the files."""
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


PLACE = Path(__file__).parent


@cache
def templates() -> Environment:
    """Return the environment of templates: always escaping, unknown names are errors."""
    from jinja2 import ChoiceLoader, FileSystemLoader

    theirs = html_environment()
    assert theirs.loader is not None  # noqa: S101 - the report has templates
    loader = ChoiceLoader([FileSystemLoader(PLACE / "templates"), theirs.loader])
    environment = theirs.overlay(loader=loader)
    environment.filters["visible_lines"] = _visible_lines
    return environment


def _visible_lines(text: str) -> str:
    """Return code line by line, with hidden characters spelled out."""
    return "\n".join(visible(line) for line in text.split("\n"))


def page(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page."""
    return HTMLResponse(templates().get_template(f"{template}.html.j2").render(**values), status)


def static_file(name: str) -> tuple[str, str] | None:
    """Return a static file and its type; None for an unknown name."""
    if name == "app.css":
        return _style(), "text/css"
    if name == "app.js":
        return (PLACE / "static" / "app.js").read_text("utf-8"), "text/javascript"
    return None


@cache
def _style() -> str:
    """Return the style of the report, light and dark, and of forms."""
    return style_sheet() + dark_style_sheet() + (PLACE / "static" / "app.css").read_text("utf-8")


SEED = 0
EXAMPLES = {
    "compas-model": "Court data from the USA (COMPAS) and a simple model: the model is queried for "
    "1,584 people, and again with another race or sex.",
    "compas-scores": "The same people with the predictions of the commercial product COMPAS, "
    "without a model.",
}
"""Descriptions of the examples."""
KEPT = "example"
IGNORE = str(AuditSettings.similarity)


def example(name: str, folder: Path) -> Table:
    """Write the files of an example, and return the roles of its columns."""
    split = compas.split_compas(SEED)
    path = folder / "compas.csv"
    split.audit.to_csv(path, index=False)
    table = Table(path, path.name, is_ours=True)
    names = [column.name for column in table.columns]
    entries = table.guess() | {
        "decision": f"{names.index('high_risk')}", "limit": f"{PER_CENT * compas.DELTA:g}",
        "rng": f"{SEED}", f"role.{names.index(compas.LABEL)}": LABEL,
        "data_name": "COMPAS, people who were not used to train the model",
        f"privileged.{names.index('race')}": "Caucasian",
        **{f"good.{names.index(name)}": "0" for name in ("high_risk", compas.LABEL)},
        **{f"group.{names.index(name)}": "on" for name in compas.SENSITIVE},
    }  # fmt: skip
    if name == "compas-model":
        import joblib

        model = folder / "compas.joblib"
        joblib.dump(compas.logistic_regression(split.training), model)
        table.models[KEPT] = Upload(model, model.name)
        entries |= {"answers": "model", "kept_model": KEPT, "allow_pickle": "on"}
    table.entries = entries
    return table
