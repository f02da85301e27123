"""Real engines on loopback, each with the same cases in it, ended by their id."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path


def postgres_binaries():
    """Return where the newest PostgreSQL server is, or None."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda one: int(one.parts[-2]))
    return found[-1] if found else None


def missing(what):
    """Say whether an engine's program is not there; in CI it has to be."""
    there = {"java": shutil.which("java"), "postgres": postgres_binaries()}[what]
    return there is None and "CI" not in os.environ


def free_port():
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return opened.getsockname()[1]


@contextmanager
def postgres():
    """Run a server with a fresh database, and give an ibis connection to it."""
    import ibis

    # it refuses to run as root, who gives it to somebody without rights
    other = pwd.getpwnam("nobody")
    as_other = {"user": other.pw_uid, "group": other.pw_gid, "extra_groups": []}
    as_other = {} if os.getuid() else as_other
    binaries, port = postgres_binaries(), str(free_port())
    # not below pytest's folders, which are for their user alone
    data = Path(tempfile.mkdtemp(prefix="postgres-"))
    if as_other:
        os.chown(data, other.pw_uid, other.pw_gid)
    command = [binaries / "initdb", "-D", data, "-U", "auditor", "-A", "trust", "-E", "UTF8"]
    subprocess.run([*command, "--no-sync"], check=True, capture_output=True, cwd="/", **as_other)
    settings = {
        "listen_addresses": "127.0.0.1", "port": port, "unix_socket_directories": "",
        "fsync": "off", "shared_preload_libraries": "pg_stat_statements",
    }  # fmt: skip
    asked = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    server = subprocess.Popen(
        [binaries / "postgres", "-D", data, *asked], stderr=subprocess.DEVNULL, cwd="/", **as_other
    )
    try:
        ready = [binaries / "pg_isready", "-h", "127.0.0.1", "-p", port]
        while subprocess.run(ready, capture_output=True, check=False).returncode:
            assert server.poll() is None, "PostgreSQL did not start"
            time.sleep(0.1)
        connection = ibis.postgres.connect(
            host="127.0.0.1", port=int(port), user="auditor", database="postgres"
        )
        yield connection
        connection.disconnect()
    finally:
        server.send_signal(signal.SIGINT)  # without waiting for those who are connected
        server.wait()
        shutil.rmtree(data)


@contextmanager
def spark():
    """Run Spark in a Java process of its own."""
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    try:
        yield session
    finally:
        session.stop()
