"""Starts a program of docs/gallery.md: `python -m programs.gallery NAME`, with tests/ in the path.

Prints the body of POST /api/v1/targets for it, in one line; ends it with its standard input.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from programs.build import build_c, build_go

HERE = Path(__file__).parent
WAKERS = HERE.parents[2] / "benchmarks" / "wakers.c"
POSTGRES = Path("/usr/lib/postgresql")
Request = Mapping[str, object]


@contextmanager
def started(command: Sequence[str | Path], **variables: str) -> Iterator["subprocess.Popen[str]"]:
    """A program that ends with us at the latest; its input ends when it is to end."""
    with subprocess.Popen(
        ["setpriv", "--pdeathsig=KILL", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **variables},
    ) as process:
        try:
            yield process
        finally:
            process.terminate()


def first_line(process: "subprocess.Popen[str]") -> str:
    """Return the first output of the program."""
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    if line == "":
        sys.exit(f"{process.args!r} said nothing")
    return line


@contextmanager
def go_server() -> Iterator[Request]:
    """A Go service with more threads than CPUs, and its clients."""
    program = build_go(HERE / "server.go")
    with (
        started([program], GOMAXPROCS="10") as server,
        started([program, "load", first_line(server)]),
    ):
        yield {"pid": server.pid}


@contextmanager
def java_shop() -> Iterator[Request]:
    """A Java virtual machine with two pools."""
    with started(["java", "-Xmx64m", HERE / "Shop.java"]) as machine:
        first_line(machine)
        yield {"pid": machine.pid}


@contextmanager
def postgres() -> Iterator[Request]:
    """PostgreSQL under pgbench: the server's process and all its descendants."""
    tools = sorted(POSTGRES.glob("*/bin"))[-1]
    user = ["--reuid=postgres", "--regid=postgres", "--init-groups"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix="tidscope-pg-") as folder, ExitStack() as stack:
        if user:
            shutil.chown(folder, "postgres")
        variables = {"PGHOST": folder, "PGDATA": f"{folder}/data", "PGDATABASE": "postgres"}
        environment = {**os.environ, **variables}

        def run(*command: str | Path) -> None:
            subprocess.run(
                ["setpriv", *user, *command],
                env=environment,
                cwd=folder,
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

        run(tools / "initdb", "-A", "trust", "-N")
        options = ("-k", folder, "-c", "listen_addresses=")
        server = stack.enter_context(started([*user, tools / "postgres", *options], **variables))
        while subprocess.run([tools / "pg_isready", "-q"], env=environment, check=False).returncode:
            assert server.poll() is None
        run(tools / "pgbench", "-i", "-q", "-s", "5")
        load = ("-n", "-c", "6", "-j", "2", "-R", "150", "-T", "3600")
        stack.enter_context(started([*user, tools / "pgbench", *load], **variables))
        yield {"group": {"kind": "tree", "pid": server.pid}}


@contextmanager
def workers() -> Iterator[Request]:
    """A thousand threads that each wake once in two seconds."""
    with started([build_c(WAKERS), "1000", "2000"]) as process:
        first_line(process)
        yield {"pid": process.pid, "rate_hz": 2}


@contextmanager
def idle() -> Iterator[Request]:
    """A process that does nothing at all."""
    with started(["sleep", "infinity"]) as process:
        yield {"pid": process.pid}


PROGRAMS: Mapping[str, Callable[[], AbstractContextManager[Request]]] = {
    "go": go_server,
    "java": java_shop,
    "postgres": postgres,
    "workers": workers,
    "idle": idle,
}


def main() -> None:
    """Run the program that the argument names."""
    with PROGRAMS[sys.argv[1]]() as request:
        print(json.dumps(request), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
