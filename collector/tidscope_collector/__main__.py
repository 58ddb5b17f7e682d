"""`python -m tidscope_collector`: composition root of the collector.

run     connect to a backend and serve it
doctor  report what this machine lets tidscope measure
"""

import argparse
import asyncio
import logging
import math
import signal
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidscope_confinement import capabilities
from tidscope_confinement.environment import take_variable
from tidscope_wire.audit import TIDSCOPE, AuditLog, AuditTrail, usual_path
from tidscope_wire.escaping import log_to_stderr
from tidscope_wire.generated.limits import MAX_ROLE_RULES, MIN_SECRET
from tidscope_wire.generated.models import DoctorReport, PolicyInfo, RoleRule, Target
from tidscope_wire.proof import host_credential

from tidscope_collector.confinement.confine import (
    SETTING_UP,
    Confinement,
    Needs,
    collector_paths,
    confine,
)
from tidscope_collector.confinement.fork_server import CONNECTING, OPENING, SIGNALLING
from tidscope_collector.confinement.switch import SwitchHelper, start_switch_helper
from tidscope_collector.energy.rapl import find_zones
from tidscope_collector.inspection.asking import children
from tidscope_collector.naming.thread_names import NamingOptions
from tidscope_collector.netacct.choice import CHOICES, Choice
from tidscope_collector.procfs.delay_accounting import SWITCH, DelayAccounting, SwitchRefusedError
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.machine import NOTHING_HIDDEN, hidepid
from tidscope_collector.sampling.budget import Budget
from tidscope_collector.sampling.engine import Engine
from tidscope_collector.sampling.machine import MachineMeter
from tidscope_collector.sampling.sampled_frame import SampledFrame
from tidscope_collector.sampling.selfwatch import Load, SelfWatch
from tidscope_collector.service.memory import limit_allocators, release_freed_memory
from tidscope_collector.targets.host import describe_host
from tidscope_collector.targets.sources import Sources
from tidscope_collector.targets.targets import TargetRegistry
from tidscope_collector.uplink.audited_commands import AuditedCommands
from tidscope_collector.uplink.commands import CommandHandler, Commands
from tidscope_collector.uplink.connection import Uplink
from tidscope_collector.uplink.replay import Replay
from tidscope_collector.uplink.sign_in import UNIX, SignIn, is_address
from tidscope_collector.waits.source import CHOICES as LEDGER_CHOICES
from tidscope_collector.waits.source import LedgerOptions
from tidscope_collector.walk.choice import CHOICES as WALK_CHOICES
from tidscope_collector.walk.choice import Choice as WalkChoice

if TYPE_CHECKING:
    from tidscope_collector.steering.audit import AuditSink
    from tidscope_collector.steering.commands import SteeringCommands

log = logging.getLogger("tidscope.collector")
ENVIRONMENT_VARIABLE = "TIDSCOPE_COLLECTOR_SECRET"
REPLAY_BYTES = 12 * 1024 * 1024
"""Frames that the backend has, kept for one that starts later."""
WAITING_BYTES = 96 * 1024 * 1024
"""Frames that no backend has yet. Any frame fits; normally it is a few kilobytes."""
NOT_PERMITTED = 4
DELIVER_SECONDS = 10.0
"""How long the end waits for frames that are on their way to a connected backend."""
RELEASE_S = 60.0
"""From one return of freed memory to the next."""

BUDGET_PERCENT = 2.0
RUN_FOLDER = Path("/run/tidscope")
"""Of leases."""


def percent(text: str) -> float:
    """Parse a percentage of the command line.

    Raises:
        argparse.ArgumentTypeError: it is not a number of 0 or more.
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
        argparse.ArgumentTypeError: it is something else.
    """
    pattern, _, role = text.rpartition("=")
    try:
        return RoleRule(pattern=pattern, role=role)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not PATTERN=NAME, of 1 to 256 characters each"
        ) from None


@dataclass(frozen=True)
class SetUp:
    """What was opened with all rights.

    Attributes:
        procfs: root of /proc.
        sources: of samples.
        granted: capabilities that it was done with.
        switch: sets the switch of delay accounting; None: nobody may.
        written: folders that files may be made in from now on.
        connects: whether ports and sockets of programs are connected to.
    """

    procfs: ProcFs
    sources: Sources
    granted: frozenset[int]
    switch: SwitchHelper | None
    written: tuple[Path, ...]
    connects: bool


def set_up(
    procfs: ProcFs,
    network: Choice,
    counters: WalkChoice,
    budget_percent: float,
    ledger: LedgerOptions,
    steers: bool,
    audit: Path | None,
    naming: NamingOptions,
) -> SetUp:
    """Do what takes more rights than sampling does.

    Args:
        procfs: root of /proc.
        network: where network numbers are to come from.
        counters: how counters of threads are to be read.
        budget_percent: for sampling and sending, 100 is one core; 0: no limit.
        ledger: which ledgers of states are to be kept.
        steers: whether targets may be steered.
        audit: the log; None: there is none.
        naming: how threads are named and put into roles.
    """
    limit_allocators()
    connects = steers or ledger.ask_programs
    # Another program, so it starts before anything is given up.
    opening = OPENING | CONNECTING if connects or naming.ask_programs else OPENING
    children().keep(opening | SIGNALLING if naming.ask_programs else opening)
    switch = start_switch_helper(procfs.path(SWITCH))
    capabilities.harden()
    granted = capabilities.keep(SETTING_UP - {capabilities.SYS_ADMIN})
    written = [RUN_FOLDER] if steers else []
    if audit is not None:
        written.append(audit.parent)
        # Later files can be made in it; the folder itself cannot.
        with suppress(OSError):
            audit.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    delays = DelayAccounting(procfs, write=switch.write if switch else None)
    sources = Sources(procfs, network, delays, counters, budget_percent, ledger, naming)
    return SetUp(procfs, sources, granted, switch, tuple(written), connects)


async def serve(
    ready: SetUp,
    backend: str,
    sign_in: SignIn | None,
    budget_percent: float,
    steers: bool,
    audit: AuditTrail | None,
) -> None:
    """Run until SIGINT or SIGTERM."""
    loop = asyncio.get_running_loop()
    procfs, sources = ready.procfs, ready.sources
    host = describe_host(procfs, sources)
    replay = Replay(REPLAY_BYTES, WAITING_BYTES)

    def load() -> Load:
        return replace(
            uplink.load(),
            network_calls_uncounted=sources.network.uncounted_calls,
            ledger_threads_uncounted=sources.ledger.threads_uncounted,
        )

    def stalled() -> bool:
        return uplink.stalled()

    def send_frame(target: Target, frame: SampledFrame) -> None:
        uplink.add_frame(target, frame)

    exits = sources.open_exits if sources.has_exits else None
    machine = MachineMeter(procfs, find_zones())
    # Frames are sent by this thread; others answer commands.
    sending = time.pthread_getcpuclockid(threading.get_ident())
    watch = SelfWatch(sending=lambda: time.clock_gettime_ns(sending))
    budget = Budget(budget_percent)
    engine = Engine(
        send_frame, exits, machine=machine, budget=budget, watch=watch, load=load, stalled=stalled
    )
    targets = TargetRegistry(host.id, procfs, sources, engine)
    steering: SteeringCommands | None = None
    policies: list[PolicyInfo] = []
    if steers:
        log_line = None if audit is None else audit.submit
        steering, policies = _open_steering(procfs, targets, engine, log_line)
    needs = Needs(
        paths=collector_paths(backend, ready.written, anywhere=ready.connects),
        taskstats=sources.kind == "taskstats",
        hidden=hidepid(procfs) not in (None, *NOTHING_HIDDEN),
        steering=steers,
        ebpf=sources.uses_ebpf,
        unix=backend.startswith(UNIX),
    )
    # Threads inherit it: there is none yet.
    confinement = confine(needs, ready.granted)

    def diagnose() -> DoctorReport:
        return _diagnose_running(sources, confinement)

    commands: Commands = CommandHandler(targets, diagnose, sources.delays, steering)
    if audit is not None:
        commands = AuditedCommands(commands, targets, audit)
        await audit.write("start", "done", TIDSCOPE, f"collector of {host.name}")
    uplink = Uplink(
        backend,
        sign_in,
        host,
        targets,
        commands,
        replay,
        policies=policies,
        restored=() if steering is None else steering.restored,
    )
    # The sampling thread must not wait long for threads that list processes.
    sys.setswitchinterval(0.001)
    release_freed_memory()
    engine.start(uplink)
    task, returning = map(asyncio.create_task, (uplink.run(), _keep_memory_small()))
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    stopped = asyncio.create_task(stopping.wait())
    try:
        await asyncio.wait((task, stopped), return_when=asyncio.FIRST_COMPLETED)
    finally:
        if steering is not None:
            await asyncio.to_thread(steering.close)
        await _deliver_the_rest(engine, uplink)
        await _end_work(task, stopped, returning)
        sources.close()
        if audit is not None:
            audit.close()
        if ready.switch is not None:
            ready.switch.close()


async def _end_work(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks, and wait for commands that still attach: they use what is closed next."""
    for one in tasks:
        one.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_default_executor()


async def _keep_memory_small() -> None:
    """Frames of all sizes come and go; what lies free between those that stay would add up."""
    while True:
        await asyncio.sleep(RELEASE_S)
        release_freed_memory()


async def _deliver_the_rest(engine: Engine, uplink: Uplink) -> None:
    """End sampling; the last samples have what was taken from the kernel and not sent yet."""
    await asyncio.to_thread(engine.stop)
    if left := await uplink.deliver(DELIVER_SECONDS):
        log.warning("ended with %d bytes of frames that the backend does not have", left)


def _open_steering(
    procfs: ProcFs, targets: TargetRegistry, engine: Engine, audit: "AuditSink | None"
) -> "tuple[SteeringCommands, list[PolicyInfo]]":
    """The steering commands and what they can steer with. Loaded here: recording needs neither."""
    from tidscope_collector.steering.commands import SteeringCommands
    from tidscope_collector.steering.loop.setup import open_setup_opener
    from tidscope_collector.steering.plan import Learners, policies, service_connection
    from tidscope_collector.steering.service import SteeringService

    opener, restored = open_setup_opener(procfs)
    service = SteeringService(procfs, opener, learners=Learners(service_connection))
    commands = SteeringCommands(targets, engine, service, procfs, audit, restored)
    return commands, policies()


def _diagnose_running(sources: Sources, confinement: Confinement) -> DoctorReport:
    """The doctor's report. Loaded here: it is rarely asked for."""
    from tidscope_collector.doctor.diagnosis import diagnose_running

    return diagnose_running(sources, confinement)


def _diagnose_host() -> DoctorReport:
    """The same without a running collector."""
    from tidscope_collector.doctor.diagnosis import diagnose_host

    return diagnose_host()


def main() -> int:
    """Parse the command line and run."""
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
        help="how the counters of threads are read: a genetlink request for each, one walk of the "
        "kernel over all of them by eBPF, or that where requests would take more than half of the "
        "CPU budget (auto); the numbers are the same (%(default)s)",
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
    run.add_argument(
        "--thread-names",
        choices=("program", "kernel"),
        default="program",
        help="names of threads: those that a Java virtual machine or a Go program has for them, "
        "where they can be read (program), or the kernel's, at most 15 bytes (%(default)s)",
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
        default=usual_path(),
        metavar="FILE",
        help="audit log of what is changed here (%(default)s)",
    )
    run.add_argument("--no-audit", action="store_true", help="keep no audit log")
    run.add_argument(
        "--no-steering",
        action="store_true",
        help="only sample: offer no policies, refuse to steer",
    )
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
    if arguments.verb == "doctor":
        if arguments.delay_accounting is not None:
            try:
                DelayAccounting(ProcFs()).set(arguments.delay_accounting == "on")
            except SwitchRefusedError as error:
                sys.stderr.write(f"{error}\n{error.hint}\n")
                return NOT_PERMITTED
        sys.stdout.write(_diagnose_host().model_dump_json(indent=2) + "\n")
        return 0
    log_to_stderr("collector: %(message)s")
    logging.getLogger("websockets").setLevel(logging.WARNING)
    # Before any process is forked, which would have it in its memory.
    secret = take_variable(ENVIRONMENT_VARIABLE)
    sign_in = None
    if not arguments.backend.startswith(UNIX):
        if len(secret) < MIN_SECRET:
            what = f"has {len(secret)} characters" if secret else "is not set"
            sys.stderr.write(
                f"{ENVIRONMENT_VARIABLE} {what}; set it to the backend's collector secret, of at "
                f"least {MIN_SECRET} characters\n"
            )
            return 2
        if not is_address(arguments.backend):
            sys.stderr.write(f"--backend {arguments.backend!r} is not a ws:// or wss:// address\n")
            return 2
        sign_in = SignIn(arguments.backend, host_credential(secret))
    steers = not arguments.no_steering
    audit = None if arguments.no_audit else arguments.audit
    asyncio.run(
        serve(
            set_up(
                ProcFs(),
                arguments.network,
                arguments.source,
                arguments.budget_percent,
                LedgerOptions(arguments.ledger, arguments.calls, arguments.ask_programs),
                steers,
                audit,
                NamingOptions(arguments.thread_names == "program", tuple(arguments.role)),
            ),
            arguments.backend,
            sign_in,
            arguments.budget_percent,
            steers,
            None if audit is None else AuditTrail(AuditLog(audit)),
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
