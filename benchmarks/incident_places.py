"""Surroundings of programs with a known fault: limits, a disturbing program, a server and clients.

Each place starts a program with or without its fault and yields the process ID to attach to. All of
it has ended when the context ends.
"""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

Place = AbstractContextManager[int]
GROUPS = Path("/sys/fs/cgroup")
PERIOD_US = 100_000
QUOTA = 0.5
"""CPUs that throttled programs may use."""
WRITE_BYTES = 4 << 20
"""Bytes a second that a limited disk takes."""
MEMORY_BYTES = 24 << 20
CLIENTS = 16
NOBODY = 65534
START_S = 60


def _started(
    words: Sequence[str], folder: Path, *, lead: Sequence[str] = ()
) -> subprocess.Popen[str]:
    """Start a program in a session of its own and wait until it says that it is ready."""
    process = subprocess.Popen(
        [*lead, *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    if process.stdout.readline() != "ready\n":
        _end(process)
        raise SystemExit(f"{words[0]} did not start")
    return process


def _end(process: subprocess.Popen[str], with_signal: int = signal.SIGKILL) -> None:
    """End a program and what it started."""
    os.killpg(process.pid, with_signal)
    process.communicate()


def _wait_until(ready: Callable[[], bool], what: str) -> None:
    """Wait until a server is ready. Raises SystemExit after START_S."""
    end = time.monotonic() + START_S
    while not ready():
        if time.monotonic() > end:
            raise SystemExit(f"{what} did not start")
        time.sleep(0.1)


def _words(program: Sequence[str], fault: bool) -> list[str]:
    return [*program, "fault" if fault else "healthy"]


@contextmanager
def bare(program: Sequence[str], fault: bool, folder: Path) -> Iterator[int]:
    """Nothing but the program."""
    process = _started(_words(program, fault), folder)
    try:
        yield process.pid
    finally:
        _end(process)


@contextmanager
def hog(program: Sequence[str], fault: bool, folder: Path) -> Iterator[int]:
    """Another program, nightly-backup, computes on every CPU; beside the twin it does not."""
    with bare(program, False, folder) as pid:
        if not fault:
            yield pid
            return
        busy = folder / "nightly-backup"
        shutil.copy(program[0], busy)
        process = _started([str(busy), "busy", "fault"], folder)
        try:
            yield pid
        finally:
            _end(process)


@contextmanager
def _limited(
    program: Sequence[str], folder: Path, controller: str, limits: dict[str, str]
) -> Iterator[int]:
    """Run a program in a control group of its own (version 1) with limits, by file."""
    group = GROUPS / controller / f"incident-{os.getpid()}"
    group.mkdir()
    try:
        for file, limit in limits.items():
            (group / file).write_text(limit)
        lead = ("sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh")
        process = _started(program, folder, lead=lead)
        try:
            yield process.pid
        finally:
            _end(process)
    finally:
        while (group / "cgroup.procs").read_text():
            time.sleep(0.05)
        group.rmdir()


@contextmanager
def cpu_limit(program: Sequence[str], fault: bool, folder: Path) -> Iterator[int]:
    """Half a CPU; the twin may use four."""
    quota = QUOTA if fault else 4
    limits = {"cpu.cfs_period_us": str(PERIOD_US), "cpu.cfs_quota_us": str(int(quota * PERIOD_US))}
    with _limited(_words(program, fault), folder, "cpu", limits) as pid:
        yield pid


@contextmanager
def disk_limit(program: Sequence[str], fault: bool, folder: Path) -> Iterator[int]:
    """A disk that takes little; the twin's is as it is."""
    device = Path("/var/tmp").stat().st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    limits = {"blkio.throttle.write_bps_device": f"{number} {WRITE_BYTES}"} if fault else {}
    with _limited(_words(program, fault), folder, "blkio", limits) as pid:
        yield pid


@contextmanager
def memory_limit(program: Sequence[str], fault: bool, folder: Path) -> Iterator[int]:
    """Less memory than the program touches, in a file that is mapped."""
    limits = {"memory.limit_in_bytes": str(MEMORY_BYTES)} if fault else {}
    with _limited(_words(program, fault), folder, "memory", limits) as pid:
        yield pid


@contextmanager
def postgres(_program: Sequence[str], fault: bool, folder: Path) -> Iterator[int]:
    """PostgreSQL and clients that all update one row; the twin's read rows of their own."""
    statement = "UPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = 1;"
    read = "\\set aid random(1, 100000)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;"
    slow = f"BEGIN;\n{statement}\n\\sleep 5 ms\nCOMMIT;"
    (folder / "work.sql").write_text(slow if fault else f"{read}\n\\sleep 5 ms")
    folder.chmod(0o777)
    user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    home = {**os.environ, "HOME": str(folder), "PGHOST": str(folder), "PGDATA": f"{folder}/data"}

    def run(*words: str) -> None:
        quiet = subprocess.DEVNULL
        subprocess.run([*user, *words], env=home, check=True, stdout=quiet, stderr=quiet)

    run("initdb", "-A", "trust", "-U", "test")
    server = subprocess.Popen(
        [*user, "postgres", "-k", str(folder), "-c", "listen_addresses=", "-c", "fsync=off"],
        env=home,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        asking = partial(subprocess.run, ["pg_isready", "-q"], env=home, check=False)
        _wait_until(lambda: asking().returncode == 0, "PostgreSQL")
        run("pgbench", "-U", "test", "-i", "-q", "postgres")
        clients = subprocess.Popen(
            [
                *(*user, "pgbench", "-U", "test", "-n", "-c", str(CLIENTS), "-j", "1"),
                *("-T", "3600", "-f", str(folder / "work.sql"), "postgres"),
            ],
            env=home,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        try:
            time.sleep(1)
            yield server.pid
        finally:
            _end(clients)
    finally:
        _end(server, signal.SIGQUIT)


@contextmanager
def redis(_program: Sequence[str], _fault: bool, folder: Path) -> Iterator[int]:
    """Redis, asked as fast as four clients can by turns."""
    server = subprocess.Popen(
        ["redis-server", "--port", "0", "--unixsocket", f"{folder}/redis", "--save", ""],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        _wait_until((folder / "redis").exists, "Redis")
        words = ["redis-benchmark", "-s", f"{folder}/redis", "-c", "4", "-q", "-t", "get,set"]
        clients = subprocess.Popen(
            [*words, "-n", "100000000"],
            stdout=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        try:
            yield server.pid
        finally:
            _end(clients)
    finally:
        _end(server)
