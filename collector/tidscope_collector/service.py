"""The collector as a service: opens its sources with all rights, confines itself, then samples."""

import asyncio
import ctypes
import logging
import os
import platform
import signal
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from tidscope_confinement import capabilities
from tidscope_wire.audit import TIDSCOPE, AuditTrail
from tidscope_wire.generated.models import (
    CollectorInfo,
    DoctorReport,
    Host,
    PolicyInfo,
    Target,
)

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
from tidscope_collector.netacct.choice import Choice
from tidscope_collector.procfs.delay_accounting import SWITCH, DelayAccounting
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.machine import NOTHING_HIDDEN, hidepid
from tidscope_collector.sampling.budget import Budget
from tidscope_collector.sampling.engine import Engine
from tidscope_collector.sampling.machine import MachineMeter
from tidscope_collector.sampling.sampled_frame import SampledFrame
from tidscope_collector.sampling.selfwatch import Load, SelfWatch
from tidscope_collector.targets.sources import Sources
from tidscope_collector.targets.targets import MAX_TARGETS, TargetRegistry
from tidscope_collector.uplink.audited_commands import AuditedCommands
from tidscope_collector.uplink.commands import CommandHandler, Commands
from tidscope_collector.uplink.connection import Uplink
from tidscope_collector.uplink.replay import Replay
from tidscope_collector.uplink.sign_in import UNIX, SignIn
from tidscope_collector.waits.source import LedgerOptions
from tidscope_collector.walk.choice import Choice as WalkChoice

if TYPE_CHECKING:
    from tidscope_collector.steering.audit import AuditSink
    from tidscope_collector.steering.commands import SteeringCommands

log = logging.getLogger("tidscope.collector")
REPLAY_BYTES = 12 * 1024 * 1024
"""Frames that the backend has, kept for one that starts later."""
WAITING_BYTES = 96 * 1024 * 1024
"""Frames that no backend has yet. Any frame fits; normally it is a few kilobytes."""
DELIVER_SECONDS = 10.0
"""How long the end waits for frames that are on their way to a connected backend."""
RELEASE_S = 60.0
"""From one return of freed memory to the next."""
RUN_FOLDER = Path("/run/tidscope")
"""Of leases."""
_M_TRIM_THRESHOLD = -1  # malloc.h of the GNU C library
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
_LARGE_BYTES = 512 << 10
_PR_SET_THP_DISABLE = 41  # linux/prctl.h


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


def describe_host(procfs: ProcFs, sources: Sources) -> Host:
    """Describe this machine."""
    boot = procfs.read("sys/kernel/random/boot_id", 64).decode().strip()
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return Host(
        id=f"h-{boot.replace('-', '')[:12]}",
        name=platform.node(),
        kernel=platform.release(),
        cpus=os.cpu_count() or 1,
        cpu_model=_cpu_model(procfs),
        memory_bytes=memory,
        connected=True,
        collector=CollectorInfo(
            pid=os.getpid(),
            version=version("tidscope"),
            privileged=sources.kind == "taskstats",
            source=sources.kind,
            reason=sources.reason,
            max_targets=MAX_TARGETS,
        ),
    )


def _cpu_model(procfs: ProcFs) -> str:
    for line in procfs.read("cpuinfo", 65536).decode("utf-8", "replace").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()
    return platform.machine()


def limit_allocators() -> None:
    """Tell the allocators to keep little; call it early. Without the GNU C library only Arrow's.

    glibc raises the size from which it takes memory from the system up to 32 MiB as such pieces are
    freed, and then keeps them; a frame or an array of counters is up to a MiB here.
    """
    # Arrow's own pool keeps 10 to 20 MB, for frames of 100 KB.
    pa.set_memory_pool(pa.system_memory_pool())
    libc = ctypes.CDLL(None)
    # Huge pages would be filled by a part only: 7 MB.
    libc.prctl(_PR_SET_THP_DISABLE, 1, 0, 0, 0)
    if hasattr(libc, "mallopt"):
        libc.mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
        libc.mallopt(_M_TRIM_THRESHOLD, _LARGE_BYTES)
        libc.mallopt(_M_ARENA_MAX, 2)


def release_freed_memory() -> None:
    """Return what was freed; takes milliseconds.

    Once all is set up that is most: the kernel's types (BTF), which libbpf reads to load a program.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)
