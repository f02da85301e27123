"""Who may talk to the app, and what its pages may do."""

import socket
from pathlib import Path

import pytest

from tests.app.conftest import BOUNDARY, multipart

FORM = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}


def test_the_address_lets_in_and_leaves_a_cookie_that_no_script_reads(shared_app):
    entered = shared_app.enter()

    assert (entered.status, entered.headers["location"]) == (303, "/")
    cookie = entered.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert shared_app.token not in shared_app.get("/").text


@pytest.mark.parametrize(
    "path", ["//evil.com/", "///evil.com", "/\\evil.com", "/%5C/evil.com", "/x"]
)
def test_the_token_leads_to_the_first_page_alone(shared_app, path):
    redirect = shared_app.request("GET", f"{path}?token={shared_app.token}")

    assert (redirect.status, redirect.headers["location"]) == (303, "/")


@pytest.mark.parametrize("path", ["/", "/?token=wrong", "/?token=", "/static/app.css", "/audits/x"])
def test_without_the_token_nothing_is_answered(shared_app, path):
    refused = shared_app.request("GET", path)

    assert refused.status == 403
    assert refused.text.startswith("Open the URL that `fairtransport app` printed")


def test_a_wrong_cookie_does_not_let_in(shared_app):
    name = shared_app.enter() and shared_app.cookie.split("=")[0]

    assert shared_app.request("GET", "/", Cookie=f"{name}=guessed").status == 403
    assert shared_app.request("GET", "/", Cookie='a="; b=\\').status == 403


@pytest.mark.parametrize("host", ["example.org", "localhost", "127.0.0.1", "example.org:80", ""])
def test_foreign_hosts_are_refused(app, host):
    refused = app.request("GET", "/", Host=host, Cookie=app.cookie)

    # an empty one is refused by the server before it comes to us
    assert refused.status in ({403} if host else {400, 403})


@pytest.mark.parametrize(
    "origin", ["http://example.org", "null", "https://127.0.0.1", "http://127.0.0.1:1", None]
)
def test_foreign_pages_cannot_send_forms(app, loans, origin):
    body = multipart({"way": "path", "path": str(loans)})
    headers = {} if origin is None else {"Origin": origin}

    refused = app.request("POST", "/tables", body, Cookie=app.cookie, **FORM, **headers)

    assert refused.status == 403
    assert refused.text == "This request comes from another page."


def test_pages_allow_no_script_of_their_own_and_nothing_from_outside(app, audited):
    for path in ("/", audited, f"{audited}/explore", f"{audited}/case", f"{audited}/repeat"):
        page = app.get(path)
        policy = page.headers["content-security-policy"]

        assert page.status == 200
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
        assert "unsafe" not in policy
        assert "<script>" not in page.text
        assert "style=" not in page.text
        assert page.headers["x-content-type-options"] == "nosniff"
        assert page.headers["cache-control"] == "no-store"


def test_the_report_runs_in_a_sandbox_under_its_own_policy(app, audited):
    report = app.get(f"{audited}/report")

    assert report.headers["content-security-policy"].startswith("sandbox allow-scripts;")
    assert "script-src &#39;sha256-" in report.text
    assert 'sandbox="allow-scripts"' in app.get(f"{audited}/full").text


@pytest.mark.parametrize(
    "name", ["../report.html", "..%2f..%2fetc%2fpasswd", "%2e%2e/secret", "passwd", "report.html/x"]
)
def test_only_files_of_an_audit_can_be_downloaded(app, audited, name):
    for folder in (f"{audited}/files", "/static", "/tables/x/files"):
        assert app.get(f"{folder}/{name}").status == 404


def test_it_listens_on_this_machine_alone(app):
    port = int(app.host.split(":")[1])
    listening = [
        line.split()[1]
        for line in Path("/proc/net/tcp").read_text("utf-8").splitlines()[1:]
        if line.split()[3] == "0A" and int(line.split()[1].split(":")[1], 16) == port
    ]

    assert [socket.inet_ntoa(bytes.fromhex(one.split(":")[0])[::-1]) for one in listening] == [
        "127.0.0.1"
    ]
