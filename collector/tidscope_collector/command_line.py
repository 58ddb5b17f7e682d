"""The command line of the collector, and its composition root.

run     connect to a backend and serve it
doctor  report what this machine lets tidscope measure
"""

import argparse
import asyncio
import logging
import math
import sys
from pathlib import Path

from tidscope_confinement.environment import take_variable
from tidscope_wire.audit import AuditLog, AuditTrail, default_path
from tidscope_wire.escaping import log_to_stderr
from tidscope_wire.generated.limits import MAX_ROLE_RULES, MIN_SECRET
from tidscope_wire.generated.models import DoctorReport, RoleRule
from tidscope_wire.proof import host_credential

from tidscope_collector.naming.thread_names import NamingOptions
from tidscope_collector.netacct.choice import CHOICES
from tidscope_collector.procfs.delay_accounting import DelayAccounting, SwitchRefusedError
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.service import serve, set_up
from tidscope_collector.uplink.sign_in import UNIX, SignIn, is_address
from tidscope_collector.waits.source import CHOICES as LEDGER_CHOICES
from tidscope_collector.waits.source import LedgerOptions
from tidscope_collector.walk.choice import CHOICES as WALK_CHOICES

ENVIRONMENT_VARIABLE = "TIDSCOPE_COLLECTOR_SECRET"
NOT_PERMITTED = 4

BUDGET_PERCENT = 2.0


class UsageError(Exception):
    """The command line or the environment is not usable. The text says why, for people."""


def percent(text: str) -> float:
    """Parse a percentage of the command line.

    Raises:
        argparse.ArgumentTypeError: the text is not a number of 0 or more.
    """
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a percentage of 0 or more")
    return value


def role_rule(text: str) -> RoleRule:
    """Parse PATTERN=NAME of the command line.

    Raises:
        argparse.ArgumentTypeError: the text has another form.
    """
    pattern, _, role = text.rpartition("=")
    try:
        return RoleRule(pattern=pattern, role=role)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not PATTERN=NAME, of 1 to 256 characters each"
        ) from None


def _diagnose_host() -> DoctorReport:
    """Return the doctor's report without a collector. Imported late because it is rarely needed."""
    from tidscope_collector.doctor.diagnosis import diagnose_host

    return diagnose_host()


def _add_source_options(run: argparse.ArgumentParser) -> None:
    """Add what is read, and how."""
    run.add_argument(
        "--network",
        choices=CHOICES,
        default="auto",
        help="source of network bytes per thread: the extended struct taskstats, eBPF, the better "
        "of those available (auto), or none (%(default)s)",
    )
    run.add_argument(
        "--source",
        choices=WALK_CHOICES,
        default="auto",
        help="how the counters of threads are read: a genetlink request for each, or one walk of "
        "the kernel over all of them by eBPF, where the kernel has it (auto, walk); the numbers "
        "are the same (%(default)s)",
    )
    run.add_argument(
        "--ledger",
        choices=LEDGER_CHOICES,
        default="auto",
        help="a ledger of the states of each thread, by eBPF: what it waits for, and how long; "
        "where the kernel allows it (auto), or off (%(default)s)",
    )
    run.add_argument(
        "--calls",
        action="store_true",
        help="count system calls by thread and number, too; slows every call of the machine down",
    )
    run.add_argument(
        "--ask-programs",
        action="store_true",
        help="ask attached Go and Java programs for their own account of their locks",
    )


def _add_name_options(run: argparse.ArgumentParser) -> None:
    """Add names and roles of threads."""
    run.add_argument(
        "--thread-names",
        choices=("program", "kernel"),
        default="program",
        help="names of threads: those that a Java virtual machine or a Go program has for them, "
        "where they can be read (program), or the kernel's, at most 15 bytes (%(default)s)",
    )
    run.add_argument(
        "--debug-files",
        default="",
        metavar="DIR",
        help="folder into which a backend on this machine fetches debug files (--debuginfod)",
    )
    run.add_argument(
        "--role",
        action="append",
        default=[],
        type=role_rule,
        metavar="PATTERN=NAME",
        help="role of threads whose whole name fits a pattern (* and ?); NAME * lets each name be "
        "a role of its own; may be repeated, the first that fits counts",
    )


def _add_limit_options(run: argparse.ArgumentParser) -> None:
    """Add what the collector may cost, and what it may change."""
    run.add_argument(
        "--budget-percent",
        type=percent,
        default=BUDGET_PERCENT,
        metavar="PERCENT",
        help="CPU budget for sampling and sending, 100 is one core; above it sampling rates are "
        "lowered; 0: no limit (%(default)s)",
    )
    run.add_argument(
        "--audit",
        type=Path,
        default=default_path(),
        metavar="FILE",
        help="audit log of what is changed here (%(default)s)",
    )
    run.add_argument("--no-audit", action="store_true", help="keep no audit log")
    run.add_argument(
        "--no-steering",
        action="store_true",
        help="only sample: offer no policies, refuse to steer",
    )


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tidscope_collector", description="Samples threads; needs privileges."
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    run = verbs.add_parser("run", help="connect to a backend and serve it")
    run.add_argument(
        "--backend",
        default="ws://127.0.0.1:8787/ws/collector",
        help="its address, or unix:PATH where only its user can reach it (%(default)s)",
    )
    run.add_argument(
        "--recorder",
        default="",
        metavar="PATH",
        help="Unix socket of a recorder on this host, which gets every frame, too",
    )
    _add_source_options(run)
    _add_name_options(run)
    _add_limit_options(run)
    doctor = verbs.add_parser("doctor", help="report what can be measured here")
    doctor.add_argument("--json", action="store_true", help="the report as JSON (the only form)")
    doctor.add_argument(
        "--delay-accounting",
        choices=["on", "off"],
        help="set kernel.task_delayacct first; exit code 4 if that is refused",
    )
    arguments = parser.parse_args()
    if len(getattr(arguments, "role", ())) > MAX_ROLE_RULES:
        parser.error(f"--role may be given {MAX_ROLE_RULES} times")
    return arguments


def _doctor(delay_accounting: str | None) -> int:
    """Print the doctor's report, after setting the switch of delay accounting if that is asked."""
    if delay_accounting is not None:
        try:
            DelayAccounting(ProcFs()).set(delay_accounting == "on")
        except SwitchRefusedError as error:
            sys.stderr.write(f"{error}\n{error.hint}\n")
            return NOT_PERMITTED
    sys.stdout.write(_diagnose_host().model_dump_json(indent=2) + "\n")
    return 0


def _sign_in(backend: str, secret: str) -> SignIn | None:
    """Return how to sign in, or None for a Unix socket. Raises UsageError if it cannot be done."""
    if backend.startswith(UNIX):
        return None
    if len(secret) < MIN_SECRET:
        what = f"has {len(secret)} characters" if secret else "is not set"
        raise UsageError(
            f"{ENVIRONMENT_VARIABLE} {what}; set it to the backend's collector secret, of at "
            f"least {MIN_SECRET} characters"
        )
    if not is_address(backend):
        raise UsageError(f"--backend {backend!r} is not a ws:// or wss:// address")
    return SignIn(backend, host_credential(secret))


def _run(arguments: argparse.Namespace) -> int:
    """Serve a backend until a signal."""
    log_to_stderr("collector: %(message)s")
    logging.getLogger("websockets").setLevel(logging.WARNING)
    # Taken before any fork, because a child would inherit it in memory.
    secret = take_variable(ENVIRONMENT_VARIABLE)
    try:
        sign_in = _sign_in(arguments.backend, secret)
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    steers = not arguments.no_steering
    reads_names = arguments.thread_names == "program"
    audit = None if arguments.no_audit else arguments.audit
    asyncio.run(
        serve(
            set_up(
                ProcFs(),
                arguments.network,
                arguments.source,
                LedgerOptions(arguments.ledger, arguments.calls, arguments.ask_programs),
                steers,
                audit,
                NamingOptions(
                    read_programs=reads_names,
                    ask_programs=reads_names and arguments.ask_programs,
                    role_rules=tuple(arguments.role),
                ),
                arguments.debug_files,
            ),
            arguments.backend,
            sign_in,
            arguments.budget_percent,
            steers,
            None if audit is None else AuditTrail(AuditLog(audit)),
            arguments.recorder,
        )
    )
    return 0


def main() -> int:
    """Parse the command line and run."""
    arguments = _parse()
    return _doctor(arguments.delay_accounting) if arguments.verb == "doctor" else _run(arguments)
