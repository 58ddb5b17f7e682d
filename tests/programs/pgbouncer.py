"""PostgreSQL behind PgBouncer, with clients that ask all the time; for tests of its pool."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from capabilities import missing
from processes import wait_until

ROOT = Path(__file__).parents[2]
UNPACKED = ROOT / ".cache" / "pgbouncer" / "usr"
USER, PORT = "postgres", 6499
CLIENTS, QUERY = 12, "SELECT pg_sleep(0.02)"
"""A query waits: twice as many connections answer twice as many, up to the number of clients."""

SETTINGS = """
[databases]
postgres = host={folder} port={port}
[pgbouncer]
listen_addr =
listen_port = {listen}
unix_socket_dir = {folder}
auth_type = trust
auth_file = {folder}/users
admin_users = postgres
pool_mode = transaction
default_pool_size = {size}
pidfile = {folder}/bouncer.pid
"""

KNOB = """
user = "postgres"
set = [{admin}, "-c", "SET default_pool_size = {{size}}"]
read = [{admin}, "-c", "SHOW CONFIG"]
read_match = '^default_pool_size\\|(\\d+)\\|'
count = [{admin}, "-c", "SHOW STATS_TOTALS"]
count_match = '^\\w+\\|(\\d+)\\|'
lower = 1
upper = 10
line = "default_pool_size = {{size}}"
"""


class Bouncer:
    """A running PgBouncer.

    Attributes:
        file: file of the adapter that steers it (docs/steering.md).
        sockets: folder for the socket of the adapter.
        pid: process of PgBouncer.
    """

    def __init__(self, folder: Path, pid: int) -> None:
        self.pid = pid
        self.file, self.sockets = folder / "knob.toml", folder / "sockets"
        self._admin = ["psql", "-h", str(folder), "-p", str(PORT), "-U", USER, "-At", "pgbouncer"]
        words = ", ".join(f'"{word}"' for word in self._admin)
        self.file.write_text(KNOB.format(admin=words))
        self.file.chmod(0o644)

    @property
    def size(self) -> int:
        """Size of its pool, as it says."""
        shown = subprocess.run(
            [*self._admin, "-c", "SHOW CONFIG"], check=True, capture_output=True, text=True
        ).stdout
        line = next(line for line in shown.splitlines() if line.startswith("default_pool_size|"))
        return int(line.split("|")[1])

    def adapter(self) -> list[str]:
        """Command that lets a collector steer it."""
        return [sys.executable, "-m", "tidscope_agent.command", str(self.file)]


def _accepts(path: Path) -> bool:
    """True if a server accepts connections at a socket; the socket appears before that."""
    with suppress(OSError), socket.socket(socket.AF_UNIX) as tried:
        tried.connect(str(path))
        return True
    return False


@contextmanager
def pgbouncer(size: int) -> Iterator[Bouncer]:
    """PostgreSQL, PgBouncer with a pool of that size, and clients."""
    servers = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not servers:
        raise missing("postgresql", "tools/install-test-packages installs it")
    if not (UNPACKED / "sbin" / "pgbouncer").exists():
        raise missing("pgbouncer", "tools/install-test-packages unpacks it")
    programs, as_server = servers[-1], ["runuser", "-u", USER, "--"]
    # The servers do not run as root, and their sockets' paths are short.
    folder = Path(tempfile.mkdtemp(prefix="tidscope-pgb-"))

    def server(*words: str) -> None:
        subprocess.run(
            [*as_server, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL, timeout=120
        )

    control = [str(programs / "pg_ctl"), "-D", str(folder / "data")]
    started: list[subprocess.Popen[bytes]] = []
    try:
        shutil.copy(UNPACKED / "sbin" / "pgbouncer", folder)
        for library in UNPACKED.glob("lib/*/libcares.so.2"):
            shutil.copy(library, folder)
        (folder / "users").write_text('"postgres" ""\n')
        listen = SETTINGS.format(folder=folder, port=PORT - 1, listen=PORT, size=size)
        (folder / "bouncer.ini").write_text(listen)
        (folder / "query.sql").write_text(f"{QUERY};\n")
        (folder / "sockets").mkdir(0o700)
        for each in (folder, *folder.iterdir()):
            shutil.chown(each, USER)
        server(str(programs / "initdb"), "-A", "trust", "-N", "-D", str(folder / "data"))
        options = f"-k {folder} -h '' -p {PORT - 1} -c fsync=off"
        server(*control, "-o", options, "-l", str(folder / "log"), "-w", "start")
        started.append(
            subprocess.Popen(
                [str(folder / "pgbouncer"), "-q", str(folder / "bouncer.ini")],
                env={**os.environ, "LD_LIBRARY_PATH": str(folder)},
                cwd=folder,
                stderr=subprocess.DEVNULL,
                user=USER,
                group=USER,
                extra_groups=(),
            )
        )
        wait_until(lambda: _accepts(folder / f".s.PGSQL.{PORT}"))
        bench = [str(programs / "pgbench"), "-h", str(folder), "-p", str(PORT), "-U", USER]
        asked = ["-n", "-c", str(CLIENTS), "-T", "600", "-f", str(folder / "query.sql")]
        started.append(
            subprocess.Popen(
                [*bench, *asked, "postgres"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        )
        yield Bouncer(folder, started[0].pid)
    finally:
        for one in reversed(started):
            one.terminate()
        for one in started:
            one.wait(60)
        if (folder / "data" / "postmaster.pid").exists():
            server(*control, "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder)
