"""What could take for ever is bounded: slow headers, aliases in YAML, parts of a skops file."""

import socket
import threading
import time
from io import BytesIO
from zipfile import ZipFile

import pytest

import fairtransport as ft
from fairtransport.errors import ModelError


@pytest.fixture
def slow_server():
    """Serve headers that never end, a few bytes at a time."""
    server, is_over = socket.create_server(("127.0.0.1", 0)), threading.Event()

    def serve():
        while not is_over.is_set():
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                try:
                    connection.sendall(b"HTTP/1.1 200 OK\r\n")
                    while not is_over.wait(0.1):
                        connection.sendall(b"X-A: b\r\n")
                except OSError:
                    continue

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.getsockname()[1]}/predict"
    is_over.set()
    server.close()
    thread.join(5)


def test_slow_headers_end_with_the_timeout(slow_server):
    start = time.monotonic()
    with pytest.raises(ModelError, match=r"did not answer in 1 try: .*imeout"):
        ft.access.connect(slow_server, timeout=1, retries=0)
    assert time.monotonic() - start < 10


def test_aliases_of_aliases_are_refused(tmp_path):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 9)}]" for at in range(1, 10)]
    (tmp_path / "MLmodel").write_text("\n".join([*lines, "flavors: *a9"]))
    with pytest.raises(ModelError, match="must not have YAML aliases"):
        ft.access.load(tmp_path)


def test_a_skops_file_has_a_limited_number_of_parts(tmp_path):
    content = BytesIO()
    with ZipFile(content, "w") as archive:
        for at in range(20_001):
            archive.writestr(f"{at}.npy", b"")
        archive.writestr("schema.json", "{}")
    (tmp_path / "a.skops").write_bytes(content.getvalue())
    with pytest.raises(ModelError, match="at most 20,000 parts, got 20,002"):
        ft.access.load(tmp_path / "a.skops")
