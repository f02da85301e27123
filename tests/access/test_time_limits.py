"""What could take for ever is bounded: slow headers, aliases in YAML, parts of a skops file."""

import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

import fairtransport as ft
from fairtransport.access.http_client import Client, Limits, Token, as_address
from fairtransport.errors import ModelError

OK, BUSY = b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 503 Service Unavailable\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.fixture
def serve_slowly():
    """Return a function that serves a beginning and then the same bytes again and again."""
    servers, is_over = [], threading.Event()

    def answer(server, beginning, again):
        while not is_over.is_set():
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                try:
                    connection.sendall(beginning)
                    while not is_over.wait(0.1):
                        connection.sendall(again)
                except OSError:
                    continue

    def serve(beginning, again):
        server = socket.create_server(("127.0.0.1", 0))
        thread = threading.Thread(target=answer, args=(server, beginning, again), daemon=True)
        thread.start()
        servers.append((server, thread))
        return f"http://127.0.0.1:{server.getsockname()[1]}/predict"

    yield serve
    is_over.set()
    for server, thread in servers:
        server.shutdown(socket.SHUT_RDWR)  # which ends a call of accept
        server.close()
        thread.join(5)


@pytest.mark.parametrize(
    ("beginning", "again"),
    [
        (OK, b"X-A: b\r\n"),
        (OK + b"Content-Length: 100000\r\n\r\n", b" "),
        (OK + CHUNKED, b"1\r\n \r\n"),
        (OK + CHUNKED + b"1;", b"a"),
        (OK + CHUNKED + b"0\r\n", b"X-A: b\r\n"),
        (OK + b"Connection: close\r\n\r\n", b" "),
        (BUSY + b"Content-Length: 100000\r\n\r\n", b" "),
    ],
    ids=["headers", "body", "chunks", "chunk extension", "trailers", "until closed", "busy"],
)
def test_slow_answers_end_with_the_timeout(serve_slowly, beginning, again):
    start = time.monotonic()
    reason = "503" if beginning.startswith(BUSY) else "timeout"
    with pytest.raises(ModelError, match=f"did not answer in 1 try: .*{reason}"):
        ft.access.connect(serve_slowly(beginning, again), timeout=1, retries=0)
    assert time.monotonic() - start < 10


def test_connections_stay_open_after_the_timeout_of_an_answer():
    connections = set()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            connections.add(self.client_address)
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = as_address(f"http://127.0.0.1:{server.server_port}/predict")
        client = Client(address, Limits(timeout=0.2, retries=0), Token("NONE"))
        for _ in range(3):
            assert client.get("/predict") == {}
            time.sleep(0.3)
        client._pool.clear()
        server.shutdown()
    assert len(connections) == 1


def test_aliases_of_aliases_are_refused(tmp_path):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 9)}]" for at in range(1, 10)]
    (tmp_path / "MLmodel").write_text("\n".join([*lines, "flavors: *a9"]))
    with pytest.raises(ModelError, match="must not have YAML aliases"):
        ft.access.load(tmp_path)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("flavors: " + "[" * 20_000 + "]" * 20_000, "nested at most 50 deep"),
        ("flavors:\n" + "  a: 1\n" * 100_000, "at most 10,000 values"),
        ("flavors:\n" + "".join(f"  k{at}: 1\n" for at in range(300_000)), "at most 1 MiB"),
    ],
    ids=["nested", "long", "large"],
)
def test_the_description_of_a_folder_is_limited(tmp_path, text, limit):
    (tmp_path / "MLmodel").write_text(text)
    start = time.monotonic()
    with pytest.raises(ModelError, match=limit):
        ft.access.load(tmp_path)
    assert time.monotonic() - start < 10


def test_a_skops_file_has_a_schema_of_limited_size(tmp_path):
    with ZipFile(tmp_path / "a.skops", "w", ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", '{"a": [' + "0, " * (6 << 20) + "0]}")
    start = time.monotonic()
    with pytest.raises(ModelError, match="a schema of at most 16 MiB, got 18,874,378 bytes"):
        ft.access.load(tmp_path / "a.skops")
    assert time.monotonic() - start < 5


def test_a_skops_file_has_a_limited_number_of_parts(tmp_path):
    content = BytesIO()
    with ZipFile(content, "w") as archive:
        for at in range(20_001):
            archive.writestr(f"{at}.npy", b"")
        archive.writestr("schema.json", "{}")
    (tmp_path / "a.skops").write_bytes(content.getvalue())
    with pytest.raises(ModelError, match="at most 20,000 parts, got 20,002"):
        ft.access.load(tmp_path / "a.skops")
