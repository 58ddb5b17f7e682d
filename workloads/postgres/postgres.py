"""Transactions of pgbench, in a server created for them."""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from generated import output_of, serve, started, whole_seconds

PLACES = Path("/usr/lib/postgresql")
"""Debian's folder of the programs of each version."""
SERVICE_USER = "postgres"
"""User of the package; the server refuses to run as root."""
FIGURES = {
    "ops": r"number of transactions actually processed: (\d+)",
    "errors": r"number of failed transactions: (\d+)",
    "latency_ms": r"latency average = ([\d.]+) ms",
    "deviation_ms": r"latency stddev = ([\d.]+) ms",
    "rate": r"tps = ([\d.]+)",
}


def main() -> None:
    """Serve until the end of the input."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections", type=int, required=True)
    parser.add_argument("--script", required=True)
    parser.add_argument("--scale", type=int, required=True)
    parser.add_argument("--synced", choices=["on", "off"], required=True)
    parser.add_argument("--warm-up", type=float, required=True)
    parser.add_argument("--measure", type=float, required=True)
    options = parser.parse_args()
    user = SERVICE_USER if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="tidscope-pg-") as name:
        folder = Path(name)
        if user is not None:
            shutil.chown(folder, user)
        server = _start(folder, user, options)
        try:
            _measure(folder, user, options)
        finally:
            # A fast shutdown: connections are ended.
            server.send_signal(signal.SIGINT)
            server.wait()


def _start(folder: Path, user: str | None, options: argparse.Namespace) -> "subprocess.Popen[str]":
    data = folder / "data"
    how = ("--auth=trust", "--username=tidscope", "--no-sync", "--no-instructions")
    output_of(started([_program("initdb"), *how, f"--pgdata={data}"], user=user))
    settings = {
        "listen_addresses": "",
        "unix_socket_directories": str(folder),
        "max_connections": str(options.connections + 10),
        "synchronous_commit": options.synced,
        "logging_collector": "off",
    }
    arguments = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    command = [_program("postgres"), "-D", str(data), *arguments]
    server = started(command, user=user, death=signal.SIGQUIT)
    for line in server.stderr or ():
        if "ready to accept connections" in line:
            return server
    output_of(server)
    sys.exit("the server ended")


def _measure(folder: Path, user: str | None, options: argparse.Namespace) -> None:
    variables = {"PGHOST": str(folder), "PGUSER": "tidscope", "PGDATABASE": "postgres"}

    def pgbench(*arguments: str) -> "subprocess.Popen[str]":
        return started([_program("pgbench"), *arguments], variables=variables, user=user)

    def load(seconds: float) -> "subprocess.Popen[str]":
        threads = min(options.connections, len(os.sched_getaffinity(0)))
        return pgbench(
            *("--no-vacuum", f"--builtin={options.script}", f"--client={options.connections}"),
            # Measures each transaction; the progress interval is never reached.
            *(f"--jobs={threads}", f"--time={whole_seconds(seconds)}", "--progress=100000"),
        )

    output_of(pgbench("--initialize", "--quiet", f"--scale={options.scale}"))
    if options.warm_up > 0:
        output_of(load(options.warm_up))
    serve(lambda: load(options.measure), figures)


def figures(said: str) -> dict[str, float]:
    """Return pgbench's figures; its rate excludes the time of connecting."""
    found = {
        name: float(match[1])
        for name, pattern in FIGURES.items()
        if (match := re.search(pattern, said)) is not None
    }
    return {
        "ops": found["ops"],
        "elapsed_s": found["ops"] / found["rate"],
        "mean_us": found["latency_ms"] * 1e3,
        "deviation_us": found["deviation_ms"] * 1e3,
        "errors": found.get("errors", 0.0),
    }


def _program(name: str) -> str:
    """Path of a program of the newest version, or from PATH."""
    found: Sequence[Path] = sorted(PLACES.glob(f"*/bin/{name}"), key=_version)
    return str(found[-1]) if found else shutil.which(name) or name


def _version(path: Path) -> float:
    try:
        return float(path.parts[-3])
    except ValueError:
        return 0.0


if __name__ == "__main__":
    main()
