"""Options shared by verbs that start or find a backend, and the choice of a runs directory."""

import argparse
import math
import os
import pwd
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urlsplit

from tidscope_backend.cli.command import CommandError
from tidscope_backend.settings import (
    DEFAULT_HOST,
    DEFAULT_PORT,
    HOUR,
    OTLP_VARIABLE,
    RUNS_VARIABLE,
    Settings,
    SpanPorts,
    runs_directory,
)

MAX_PORT = 65535
YEAR_SECONDS = 31_536_000
DAY_SECONDS = 86400.0
GIB = 1024**3
NETWORK_SOURCES = ("auto", "taskstats", "ebpf", "none")
COUNTERS_SOURCES = ("auto", "genetlink", "walk")
LEDGERS = ("auto", "off")
"""Choices of the collector's --network, --source and --ledger; a test keeps them in sync."""


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """Add options of a backend: address, metrics push, and retention of runs."""
    parser.add_argument("--host", default=DEFAULT_HOST, help="address to listen on (%(default)s)")
    parser.add_argument(
        "--port", type=port, default=DEFAULT_PORT, help="TCP port to listen on (%(default)s)"
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="another host name that browsers may use to open the page (repeatable)",
    )
    parser.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="another origin of the page, such as https://NAME behind a proxy (repeatable)",
    )
    parser.add_argument(
        "--trusted-proxy",
        type=network,
        action="append",
        default=[],
        metavar="CIDR",
        help="address or network of a proxy whose X-Forwarded-For and X-Forwarded-Proto are "
        "believed (repeatable; default: nobody's are)",
    )
    parser.add_argument(
        "--otlp-endpoint",
        metavar="URL",
        help="push metrics to an OpenTelemetry collector, such as http://localhost:4318 "
        f"(default: ${OTLP_VARIABLE})",
    )
    parser.add_argument(
        "--detach-after-hours",
        type=not_negative,
        default=8.0,
        metavar="N",
        help="detach targets that no page, recording or policy has used for N hours; 0: never "
        "(%(default)g)",
    )
    parser.add_argument(
        "--otlp-receiver",
        action="store_true",
        help="receive spans of programs on this machine by OTLP (docs/traces.md)",
    )
    parser.add_argument(
        "--otlp-http-port",
        type=port,
        default=SpanPorts.http,
        metavar="PORT",
        help="port of 127.0.0.1 for OTLP/HTTP (%(default)s)",
    )
    parser.add_argument(
        "--otlp-grpc-port",
        type=port,
        default=SpanPorts.grpc,
        metavar="PORT",
        help="port of 127.0.0.1 for OTLP/gRPC (%(default)s)",
    )
    parser.add_argument(
        "--keep-traces-days",
        type=positive_number,
        default=15.0,
        metavar="N",
        help="delete spans N days after they came (%(default)g)",
    )
    parser.add_argument(
        "--keep-traces-gib",
        type=positive_number,
        default=1.0,
        metavar="N",
        help="delete the oldest spans when all of them exceed N GiB (%(default)g)",
    )
    parser.add_argument(
        "--keep-roles-days",
        type=positive_number,
        metavar="N",
        help="keep the totals by role of all hosts for N days, as a table that `tidscope query` "
        "reads (default: keep none)",
    )
    parser.add_argument(
        "--roles-store",
        type=store_address,
        metavar="URL",
        help="store of that table, such as s3://BUCKET/PREFIX or file:///FOLDER, with credentials "
        "in the environment (default: the runs directory)",
    )
    parser.add_argument(
        "--keep-runs-days",
        type=positive_number,
        metavar="N",
        help="delete runs N days after they end (default: keep all)",
    )
    parser.add_argument(
        "--keep-runs-gib",
        type=positive_number,
        metavar="N",
        help="delete the oldest runs when all of them exceed N GiB (default: keep all)",
    )


def add_backend_options(parser: argparse.ArgumentParser) -> None:
    """Add options that select a running backend."""
    parser.add_argument(
        "--host", default=DEFAULT_HOST, help="address of a running tidscope (%(default)s)"
    )
    parser.add_argument(
        "--port", type=port, default=DEFAULT_PORT, help="port of a running tidscope (%(default)s)"
    )


def add_network_option(parser: argparse.ArgumentParser) -> None:
    """Add the option for the source of threads' network bytes."""
    parser.add_argument(
        "--network",
        choices=NETWORK_SOURCES,
        default="auto",
        help="source of per-thread network bytes (%(default)s: the best available)",
    )


def add_ledger_options(parser: argparse.ArgumentParser, when: str = "") -> None:
    """Add options for ledgers of states and further counters.

    Args:
        parser: parser of a command.
        when: condition under which the options apply; empty for always.
    """
    parser.add_argument(
        "--ledger",
        choices=LEDGERS,
        default="auto",
        help=f"{when}a ledger of the states of each thread, by eBPF: what it waits for, and how "
        "long; where the kernel allows it (auto), or off (%(default)s)",
    )
    parser.add_argument(
        "--calls",
        action="store_true",
        help=f"{when}count system calls by thread and number, too; slows every call of the "
        "machine down",
    )
    parser.add_argument(
        "--ask-programs",
        action="store_true",
        help=f"{when}ask Go and Java programs for their own account of their locks, and Java ones "
        "for whole names of their threads; each answer stops a Java program for milliseconds",
    )
    parser.add_argument(
        "--thread-names",
        choices=("program", "kernel"),
        default="program",
        help=f"{when}names of threads: those that a Go program, a title or, with --ask-programs, "
        "a Java virtual machine has for them (program), or the kernel's, at most 15 bytes "
        "(%(default)s)",
    )
    parser.add_argument(
        "--role",
        action="append",
        default=[],
        metavar="PATTERN=NAME",
        help=f"{when}role of threads whose whole name fits a pattern (* and ?); NAME * lets each "
        "name be a role of its own; may be repeated, the first that fits counts",
    )


def ledger_arguments(options: argparse.Namespace) -> tuple[str, ...]:
    """Return arguments of a collector for the options of `add_ledger_options`."""
    return (
        *("--ledger", options.ledger),
        *(("--calls",) if options.calls else ()),
        *(("--ask-programs",) if options.ask_programs else ()),
        *("--thread-names", options.thread_names),
        *(part for rule in options.role for part in ("--role", rule)),
    )


def source_arguments(options: argparse.Namespace) -> tuple[str, ...]:
    """Return a collector's arguments for the options that select sources."""
    return (
        *("--network", options.network),
        *("--source", options.source),
        *ledger_arguments(options),
    )


def add_source_option(parser: argparse.ArgumentParser, when: str = "") -> None:
    """Add the option for the source of threads' counters.

    Args:
        parser: parser of a command.
        when: condition under which the option applies; empty for always.
    """
    parser.add_argument(
        "--source",
        choices=COUNTERS_SOURCES,
        default="auto",
        help=f"{when}how thread counters are read: a genetlink request per thread, one eBPF walk "
        "over all threads, or the walk where requests take half of the CPU budget (%(default)s)",
    )


def add_user_option(parser: argparse.ArgumentParser) -> None:
    """Add the option for the user of a backend started by root."""
    parser.add_argument(
        "--user",
        metavar="NAME",
        help="user the backend runs as (default of root: who called sudo, else the owner of the "
        "state folder, else tidscope if there is such a user)",
    )


def otlp_environ(options: argparse.Namespace, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with the option in place of its variable."""
    chosen: str | None = options.otlp_endpoint
    return {**environ, **({} if chosen is None else {OTLP_VARIABLE: chosen})}


def retention_arguments(options: argparse.Namespace) -> list[str]:
    """Return the retention options as arguments of another command."""
    arguments: list[str] = []
    if options.keep_runs_days is not None:
        arguments += ["--keep-runs-days", f"{options.keep_runs_days!r}"]
    if options.keep_runs_gib is not None:
        arguments += ["--keep-runs-gib", f"{options.keep_runs_gib!r}"]
    return arguments


def detach_arguments(options: argparse.Namespace) -> list[str]:
    """Return the option of unwatched targets as arguments of another command."""
    return ["--detach-after-hours", f"{options.detach_after_hours!r}"]


def with_detaching(settings: Settings, options: argparse.Namespace) -> Settings:
    """Return settings with the option of unwatched targets."""
    seconds = options.detach_after_hours * HOUR
    return replace(settings, detach_unwatched_seconds=seconds or None)


def role_arguments(options: argparse.Namespace) -> list[str]:
    """Return the options of totals by role as arguments of another command."""
    days, store = options.keep_roles_days, options.roles_store
    return [
        *([] if days is None else ["--keep-roles-days", f"{days!r}"]),
        *([] if store is None else ["--roles-store", store]),
    ]


def with_roles(settings: Settings, options: argparse.Namespace) -> Settings:
    """Return settings with the option of totals by role.

    Raises:
        CommandError: what writes the table is not installed.
    """
    days = options.keep_roles_days
    if days is None:
        if options.roles_store is not None:
            raise CommandError("--roles-store needs --keep-roles-days N")
        return settings
    for module, name in (("pyiceberg", "PyIceberg"), ("obstore", "obstore")):
        if find_spec(module) is None:
            raise CommandError(f"--keep-roles-days needs {name}: pip install 'tidscope[fleet]'")
    return replace(settings, keep_roles_seconds=days * DAY_SECONDS, roles_store=options.roles_store)


def trace_arguments(options: argparse.Namespace) -> list[str]:
    """Return the options of spans as arguments of another command."""
    return [
        *(["--otlp-receiver"] if options.otlp_receiver else []),
        *("--otlp-http-port", str(options.otlp_http_port)),
        *("--otlp-grpc-port", str(options.otlp_grpc_port)),
        *("--keep-traces-days", f"{options.keep_traces_days!r}"),
        *("--keep-traces-gib", f"{options.keep_traces_gib!r}"),
    ]


def with_traces(settings: Settings, options: argparse.Namespace) -> Settings:
    """Return settings with the options of spans."""
    ports = SpanPorts(options.otlp_http_port, options.otlp_grpc_port)
    return replace(
        settings,
        span_ports=ports if options.otlp_receiver else None,
        keep_traces_seconds=options.keep_traces_days * DAY_SECONDS,
        keep_traces_bytes=int(options.keep_traces_gib * GIB),
    )


def retention_seconds(options: argparse.Namespace) -> float | None:
    """Return the retention time of ended runs, in seconds; None for no limit."""
    days: float | None = options.keep_runs_days
    return None if days is None else days * DAY_SECONDS


def retention_bytes(options: argparse.Namespace) -> int | None:
    """Return the maximum size of all runs, in bytes; None for no limit."""
    gib: float | None = options.keep_runs_gib
    return None if gib is None else int(gib * GIB)


def port(text: str) -> int:
    """Read a port number; 0 lets the kernel choose."""
    if not text.isdigit() or int(text) > MAX_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; use 1 to {MAX_PORT}")
    return int(text)


def network(text: str) -> str:
    """Read an IP address or network."""
    try:
        return str(ip_network(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error}; use one such as 10.0.0.0/24") from None


STORES = ("s3", "gs", "abfss", "file")


def store_address(text: str) -> str:
    """Read the address of a store of objects; secrets are no part of it."""
    parts = urlsplit(text)
    if parts.scheme not in STORES or not (parts.netloc or parts.scheme == "file"):
        raise argparse.ArgumentTypeError(f"{text!r} is no store; use s3://BUCKET/PREFIX, say")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise argparse.ArgumentTypeError("credentials belong in the environment")
    if parts.scheme == "file" and (parts.netloc or not parts.path.startswith("/")):
        raise argparse.ArgumentTypeError(f"{text!r} is no folder; use file:///FOLDER")
    return text.rstrip("/")


def positive_number(text: str) -> float:
    """Read a number above 0."""
    return _number(text, "is not a number above 0", above=True)


def not_negative(text: str) -> float:
    """Read a number, 0 or more."""
    return _number(text, "is not a number of 0 or more")


def percent(text: str) -> float:
    """Read a percentage, 0 or more; refused early, since the collector could not start with it."""
    return _number(text, "is not a percentage of 0 or more")


def duration(text: str) -> float:
    """Read a number of seconds, up to a year."""
    return _number(text, "is not a number of seconds", most=YEAR_SECONDS)


def _number(text: str, complaint: str, *, above: bool = False, most: float = math.inf) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (value > 0 if above else value >= 0) or not value <= most or value == math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} {complaint}")
    return value


def add_runs_dir_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that selects another runs directory."""
    parser.add_argument(
        "--runs-dir", metavar="DIR", help=f"runs directory (default: ${RUNS_VARIABLE})"
    )


def chosen_runs_directory(options: argparse.Namespace) -> Path:
    """Return the selected or the user's runs directory. Raises CommandError."""
    return Path(options.runs_dir) if options.runs_dir else user_runs_directory(os.environ)


def user_runs_directory(environ: Mapping[str, str]) -> Path:
    """Return this user's runs directory; under sudo, that of the calling user.

    Raises:
        CommandError: the directory does not exist.
    """
    known = dict(environ)
    if os.geteuid() == 0 and int(known.get("SUDO_UID", "0")):
        known.pop("XDG_DATA_HOME", None)
        with suppress(KeyError):
            known["HOME"] = pwd.getpwuid(int(known["SUDO_UID"])).pw_dir
    runs = runs_directory(known)
    if runs is None:
        raise CommandError(f"there is no runs directory; set {RUNS_VARIABLE} to one")
    return runs
