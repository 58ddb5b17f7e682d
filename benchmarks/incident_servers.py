"""Servers as Debian and PyPI have them, with one known fault each: places, and what is right."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from incident import HERE, Incident
from incident_places import ended, limited, listens, quiet, read_limits, wait_until

CLIENTS = 16
NOBODY = 65534
NGINX = HERE.parents[1] / ".cache" / "nginx" / "usr" / "sbin" / "nginx"
SERVICES = (sys.executable, str(HERE / "services.py"))


class Postgres:
    """A PostgreSQL server of its own with the tables of pgbench, asked over a socket in a folder.

    Args:
        folder: folder for its data and its socket.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._user = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
        folder.chmod(0o777)
        own = {"HOME": str(folder), "PGHOST": str(folder), "PGDATA": f"{folder}/data"}
        self._home = {**os.environ, **own}

    @contextmanager
    def running(self, setting: str = "fsync=off") -> Iterator[int]:
        """Run the server with a setting; its process ID."""
        self._run("initdb", "-A", "trust", "-U", "test")
        words = ("postgres", "-k", str(self._folder), "-c", "listen_addresses=", "-c", setting)
        with ended(self._start(*words), signal.SIGQUIT) as server:
            asking = partial(subprocess.run, ["pg_isready", "-q"], env=self._home, check=False)
            wait_until(lambda: asking().returncode == 0, "PostgreSQL")
            self._run("pgbench", "-U", "test", "-i", "-q", "postgres")
            yield server.pid

    @contextmanager
    def asked(self, clients: int, script: str) -> Iterator[None]:
        """Run clients that repeat a script of pgbench."""
        file = self._folder / f"work-{clients}.sql"
        file.write_text(script)
        words = ("pgbench", "-U", "test", "-n", "-c", str(clients), "-j", "1", "-T", "3600")
        with ended(self._start(*words, "-f", str(file), "postgres")):
            time.sleep(1)
            yield

    def _run(self, *words: str) -> None:
        quiet = subprocess.DEVNULL
        subprocess.run(
            [*self._user, *words], env=self._home, check=True, stdout=quiet, stderr=quiet
        )

    def _start(self, *words: str) -> subprocess.Popen[str]:
        return quiet((*self._user, *words), self._folder, self._home)


UPDATE = "UPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = 1;"
READ = "\\set aid random(1, 100000)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;"


@contextmanager
def row_lock(_program: Sequence[str], fault: bool, folder: Path) -> Iterator[int]:
    """PostgreSQL and clients that all update one row; the twin's read rows of their own."""
    slow = f"BEGIN;\n{UPDATE}\n\\sleep 5 ms\nCOMMIT;"
    server = Postgres(folder)
    with server.running() as pid, server.asked(CLIENTS, slow if fault else f"{READ}\n\\sleep 5 ms"):
        yield pid


@contextmanager
def idle_transaction(_program: Sequence[str], fault: bool, folder: Path) -> Iterator[int]:
    """PostgreSQL: a client updates a row that eight others want, and forgets to commit."""
    forgotten = f"BEGIN;\n{UPDATE}\n\\sleep 2000 s" if fault else f"{UPDATE}\n\\sleep 2000 s"
    server = Postgres(folder)
    wanted = f"{UPDATE if fault else READ}\n\\sleep 20 ms"
    with server.running() as pid, server.asked(1, forgotten), server.asked(8, wanted):
        yield pid


WRITE = """\\set id random(1, 100000)
UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :id;"""


@contextmanager
def write_ahead_log(_program: Sequence[str], fault: bool, folder: Path) -> Iterator[int]:
    """PostgreSQL: all clients commit by themselves, so that one at a time syncs the log."""
    server = Postgres(folder)
    setting = "synchronous_commit=on" if fault else "synchronous_commit=off"
    work = WRITE if fault else f"{WRITE}\n\\sleep 20 ms"
    with server.running(setting) as pid, server.asked(CLIENTS, work):
        yield pid


@contextmanager
def _redis(folder: Path) -> Iterator[int]:
    """Redis, asked as fast as four clients can by turns."""
    words = ("redis-server", "--port", "0", "--unixsocket", f"{folder}/redis", "--save", "")
    with ended(quiet(words, folder)) as server:
        wait_until((folder / "redis").exists, "Redis")
        asks = ("redis-benchmark", "-s", f"{folder}/redis", "-c", "4", "-q", "-t", "get,set")
        with ended(quiet((*asks, "-n", "100000000"), folder)):
            yield server.pid


@contextmanager
def redis(_program: Sequence[str], _fault: bool, folder: Path) -> Iterator[int]:
    """Redis under load."""
    with _redis(folder) as pid:
        yield pid


SCRIPT = "local sum = 0; for i = 1, 12000000 do sum = sum + i end; return sum"


@contextmanager
def redis_script(_program: Sequence[str], fault: bool, folder: Path) -> Iterator[int]:
    """Redis under load, and a client whose script computes for about 100 ms, or does not."""
    script = SCRIPT if fault else "return 1"
    asks = ("redis-cli", "-s", f"{folder}/redis", "-r", "-1", "-i", "0.3", "EVAL", script, "0")
    with _redis(folder) as pid, ended(quiet(asks, folder)):
        yield pid


RULES = """daemon off;
worker_processes 1;
pid {folder}/pid;
error_log /dev/null;
events {{ worker_connections 256; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port}; root {folder}; directio 4k; output_buffers 2 512k; }}
}}
"""


@contextmanager
def nginx(_program: Sequence[str], fault: bool, folder: Path) -> Iterator[int]:
    """One nginx worker that reads files past the page cache, from a disk that takes little."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    folder.chmod(0o755)
    (folder / "film").write_bytes(os.urandom(1 << 20))
    (folder / "rules").write_text(RULES.format(folder=folder, port=port))
    start = ("sh", "-c", 'echo ready; exec "$@"', "sh", str(NGINX), "-c", f"{folder}/rules")
    with limited(start, folder, "blkio", read_limits() if fault else {}) as pid:
        wait_until(partial(listens, port), "nginx")
        url = f"http://127.0.0.1:{port}/film"
        with ended(quiet(("wrk", "-t", "1", "-c", "8", "-d", "3600", url), folder)):
            yield pid


SERVERS: tuple[Incident, ...] = (
    Incident(
        "postgres-row-lock",
        "16 clients update one row",
        (),
        right=r"(1[0-6]|[89]) .*(postgres|client).*(lock|each other)|postgres.*each other",
        symptom=r"postgres.*wait|lock",
        misleading=r"were idle|disk",
        place=row_lock,
        tree=True,
        healthy=r"disk",
        needs=("pgbench",),
    ),
    Incident(
        "redis-healthy",
        "Redis under load, well",
        (),
        right=r"(?!)",
        silent_is_right=True,
        place=redis,
        needs=("redis-server",),
    ),
    Incident(
        "postgres-idle-transaction",
        "eight clients want a row that a client has updated and not committed",
        (),
        right=r"(8|9) .*postgres.*(lock|UPDATE waiting)|postgres.*(transaction|UPDATE waiting)",
        symptom=r"postgres.*wait|lock",
        misleading=r"were idle|disk",
        place=idle_transaction,
        tree=True,
        needs=("pgbench",),
    ),
    Incident(
        "postgres-write-ahead-log",
        "16 clients commit, and wait for the lock of the write-ahead log while one syncs it",
        (),
        right=r"postgres.*(each other|one lock|one at a time).*sync|sync.*postgres.*at a time",
        symptom=r"postgres.*(disk|sync|each other|lock)",
        misleading=r"were idle",
        place=write_ahead_log,
        tree=True,
        # Each commit of the twin does wake that process.
        healthy=r"disk|wakes postgres: walwriter",
        needs=("pgbench",),
    ),
    Incident(
        "redis-script",
        "a script of a client computes for 100 ms, several times a second",
        (),
        right=r"event loop|between two polls|does not poll",
        symptom=r"runs .* of the time",
        misleading=r"were idle|one lock",
        place=redis_script,
        needs=("redis-server",),
    ),
    Incident(
        "nginx-slow-disk",
        "the one worker reads files itself, at the disk's limit",
        (),
        right=r"nginx.*disk.*limit",
        symptom=r"nginx.*disk",
        place=nginx,
        tree=True,
        needs=(str(NGINX), "wrk"),
        healthy=r"nginx.*disk",
    ),
    Incident(
        "fastapi-thread-pool",
        "150 clients of an endpoint that blocks in a pool of 40 threads",
        (*SERVICES, "thread-pool"),
        right=r"(full|busy all the time|all \d+ ).*|All 40 threads.*",
        symptom=r"AnyIO|WorkerThread|run|40 threads",
        misleading=r"were idle|one lock",
    ),
    Incident(
        "python-connection-pool",
        "twelve threads share a pool of two connections",
        (*SERVICES, "connection-pool"),
        right=r"(8|9|1[0-2]) threads.*lock.*(checkout|work).*few may use",
        symptom=r"checkout|work|lock",
        misleading=r"were idle|one lock",
    ),
    Incident(
        "java-common-pool",
        "blocking calls in the common pool of three threads, three times what it can do",
        (
            *("java", "-Xmx192m", "-Djava.util.concurrent.ForkJoinPool.common.parallelism=3"),
            *("-cp", "{build}/java", "Incident", "common-pool"),
        ),
        right=r"ForkJoinPool.*(full|queue|busy)",
        symptom=r"ForkJoinPool",
        misleading=r"were idle|one lock",
    ),
    Incident(
        "node-thread-pool",
        "all four threads of Node's pool wait for pipes, and reads of files behind them",
        ("node", str(HERE / "pool.mjs")),
        right=r"(threads of|libuv|node).*(full|busy|queue).*|pool.*(full|busy)",
        symptom=r"libuv|pool|pipe",
        misleading=r"were idle|one lock|event loop",
    ),
)
