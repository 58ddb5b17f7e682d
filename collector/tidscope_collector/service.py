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
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidscope_confinement import capabilities
from tidscope_wire.audit import TIDSCOPE, AuditTrail
from tidscope_wire.generated.models import CollectorInfo, DoctorReport, Host, PolicyInfo, Target

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
from tidscope_collector.inspection.asking import start_children
from tidscope_collector.naming.thread_names import NamingOptions
from tidscope_collector.netacct.choice import Choice
from tidscope_collector.procfs.delay_accounting import SWITCH, DelayAccounting
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.machine import NOTHING_HIDDEN, hidepid
from tidscope_collector.sampling.budget import Budget
from tidscope_collector.sampling.engine import Engine
from tidscope_collector.sampling.machine import MachineMeter
from tidscope_collector.sampling.selfwatch import Load, SelfWatch
from tidscope_collector.stacks.program import start_program
from tidscope_collector.targets.sources import Sources
from tidscope_collector.targets.targets import MAX_TARGETS, TargetRegistry
from tidscope_collector.uplink.audited_commands import AuditedCommands
from tidscope_collector.uplink.commands import CommandHandler, Commands
from tidscope_collector.uplink.connection import Uplink
from tidscope_collector.uplink.frames import FramesLink
from tidscope_collector.uplink.host_labels import host_labels
from tidscope_collector.uplink.recorder import AnnouncingCommands, recorder_frames, recorder_uplink
from tidscope_collector.uplink.sign_in import UNIX, SignIn
from tidscope_collector.waits.source import LedgerOptions
from tidscope_collector.walk.choice import Choice as WalkChoice

if TYPE_CHECKING:
    from tidscope_collector.steering.audit import AuditSink
    from tidscope_collector.steering.commands import SteeringCommands

log = logging.getLogger("tidscope.collector")
DELIVER_SECONDS = 10.0
"""Timeout for a connected backend to confirm frames at shutdown, in seconds."""
RELEASE_S = 60.0
"""Interval between two returns of freed memory to the system, in seconds."""
RUN_FOLDER = Path("/run/tidscope")
"""Folder of steering leases."""
_M_TRIM_THRESHOLD = -1  # malloc.h of the GNU C library
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
_LARGE_BYTES = 512 << 10
_PR_SET_THP_DISABLE = 41  # linux/prctl.h


@dataclass(frozen=True)
class SetUp:
    """Resources opened while the process has all rights.

    Attributes:
        procfs: root of /proc.
        sources: sources of samples.
        granted: capabilities held during set-up.
        switch: sets the switch of delay accounting; None if not permitted.
        written: folders in which files may be created after confinement.
        connects: True if the collector connects to ports and sockets of programs.
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
    ledger: LedgerOptions,
    steers: bool,
    audit: Path | None,
    naming: NamingOptions,
    debug_files: str,
) -> SetUp:
    """Open everything that needs more rights than sampling does.

    Args:
        procfs: root of /proc.
        network: requested source of network counters.
        counters: requested source of thread counters.
        ledger: options of state ledgers.
        steers: True if targets may be steered.
        audit: path of the audit log, or None for no log.
        naming: options for names and roles of threads.
        debug_files: folder of debug files that the backend fetches; empty: none.
    """
    limit_allocators()
    connects = steers or ledger.ask_programs
    # The fork server is another program, so it must start before execve is given up.
    opening = OPENING | CONNECTING if connects else OPENING
    start_children(debug_files).keep(opening | SIGNALLING if naming.ask_programs else opening)
    switch = start_switch_helper(procfs.path(SWITCH))
    stacks = start_program()
    capabilities.harden()
    granted = capabilities.keep(SETTING_UP - {capabilities.SYS_ADMIN})
    written = [RUN_FOLDER] if steers else []
    if audit is not None:
        written.append(audit.parent)
        # Later log files can be created in the folder; the folder itself cannot be created after
        # confinement.
        with suppress(OSError):
            audit.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    delays = DelayAccounting(procfs, write=switch.write if switch else None)
    sources = Sources(procfs, network, delays, counters, ledger, naming, stacks)
    return SetUp(procfs, sources, granted, switch, tuple(written), connects)


async def serve(
    ready: SetUp,
    backend: str,
    sign_in: SignIn | None,
    budget_percent: float,
    steers: bool,
    audit: AuditTrail | None,
    recorder: str = "",
) -> None:
    """Run until SIGINT or SIGTERM; a `recorder` is the Unix socket of one on this host."""
    loop, recorders = asyncio.get_running_loop(), list[Uplink]()
    procfs, sources = ready.procfs, ready.sources
    host = describe_host(procfs, sources)

    def load() -> Load:
        return uplink.load()

    def changed(target: Target) -> None:
        targets.update(target)
        _tell_changes(uplink, *recorders)

    machine = MachineMeter(procfs, find_zones())
    # This thread talks to the backend, that of the data connection sends frames; worker threads
    # answer commands.
    talking = time.pthread_getcpuclockid(threading.get_ident())
    watch = SelfWatch(
        sending=lambda: time.clock_gettime_ns(talking) + sum(one.cpu_ns() for one in links)
    )
    budget = Budget(budget_percent)
    engine = Engine(sources.native, changed, machine=machine, budget=budget, watch=watch, load=load)
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
        unix=backend.startswith(UNIX) or bool(recorder),
    )
    # Threads inherit the confinement; none has started yet.
    confinement = confine(needs, ready.granted)

    def diagnose() -> DoctorReport:
        return _diagnose_running(sources, confinement)

    commands: Commands = CommandHandler(targets, diagnose, sources.delays, steering)
    if audit is not None:
        commands = AuditedCommands(commands, targets, audit)
        await audit.write("start", "done", TIDSCOPE, f"collector of {host.name}")
    frames = FramesLink(backend, sign_in, host.id)
    links = [frames, *([recorder_frames(recorder, host.id)] if recorder else [])]
    sources.native.use_link(*(one.native for one in links))
    uplink = Uplink(
        backend,
        sign_in,
        host,
        targets,
        AnnouncingCommands(commands, lambda: _tell_changes(*recorders)),
        frames,
        policies=policies,
        restored=() if steering is None else steering.restored,
    )
    recorders += (recorder_uplink(recorder, host, targets, one) for one in links[1:])
    # Bound the event loop's wait for the interpreter lock while threads list processes.
    sys.setswitchinterval(0.001)
    release_freed_memory()
    _start(engine, sources)
    task, *others = map(
        asyncio.create_task, (*(one.run() for one in (uplink, *recorders)), _keep_memory_small())
    )
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    stopped = asyncio.create_task(stopping.wait())
    try:
        await asyncio.wait((task, stopped), return_when=asyncio.FIRST_COMPLETED)
    finally:
        if steering is not None:
            await asyncio.to_thread(steering.close)
        await _deliver_the_rest(engine, (uplink, *recorders))
        await asyncio.gather(*(asyncio.to_thread(link.stop) for link in links))
        await _end_work(task, stopped, *others)
        sources.close()
        _close_all(audit, ready.switch)


def _tell_changes(*uplinks: Uplink) -> None:
    for one in uplinks:
        one.tell_changes()


def _close_all(*held: AuditTrail | SwitchHelper | None) -> None:
    for one in held:
        if one is not None:
            one.close()


def _start(engine: Engine, sources: Sources) -> None:
    """Start the threads, which inherit the confinement."""
    engine.start()
    sources.stacks.start()


async def _end_work(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks, then wait for commands in progress, which use the resources closed next."""
    for one in tasks:
        one.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_default_executor()


async def _keep_memory_small() -> None:
    """Return freed memory regularly: frames of many sizes would otherwise fragment the heap."""
    while True:
        await asyncio.sleep(RELEASE_S)
        release_freed_memory()


async def _deliver_the_rest(engine: Engine, uplinks: Sequence[Uplink]) -> None:
    """End sampling, then flush: the last samples hold counters already taken from the kernel."""
    await asyncio.to_thread(engine.stop)
    left = await asyncio.gather(*(one.deliver(DELIVER_SECONDS) for one in uplinks))
    for name, size in zip(("backend", "recorder"), left, strict=False):
        if size:
            log.warning("ended with %d bytes of frames that the %s does not have", size, name)


def _open_steering(
    procfs: ProcFs, targets: TargetRegistry, engine: Engine, audit: "AuditSink | None"
) -> "tuple[SteeringCommands, list[PolicyInfo]]":
    """Return the steering commands and policies. Imported late because recording needs neither."""
    from tidscope_collector.steering.commands import SteeringCommands
    from tidscope_collector.steering.loop.setup import open_setup_opener
    from tidscope_collector.steering.plan import Learners, policies, service_connection
    from tidscope_collector.steering.service import SteeringService

    opener, restored = open_setup_opener(procfs)
    service = SteeringService(procfs, opener, learners=Learners(service_connection))
    commands = SteeringCommands(targets, engine, service, procfs, audit, restored)
    return commands, policies()


def _diagnose_running(sources: Sources, confinement: Confinement) -> DoctorReport:
    """Return the doctor's report. Imported late because it is rarely needed."""
    from tidscope_collector.doctor.diagnosis import diagnose_running

    return diagnose_running(sources, confinement)


def describe_host(procfs: ProcFs, sources: Sources) -> Host:
    """Return the description of this machine."""
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
        labels=host_labels(Path("/"), os.environ),
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
    """Limit the memory that allocators keep. Call it early; only glibc supports it.

    Freeing large blocks makes glibc raise its mmap threshold up to 32 MiB and keep such blocks. A
    frame or an array of counters has up to 1 MiB here.
    """
    libc = ctypes.CDLL(None)
    # Huge pages would be mostly unused and cost 7 MB.
    libc.prctl(_PR_SET_THP_DISABLE, 1, 0, 0, 0)
    if hasattr(libc, "mallopt"):
        libc.mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
        libc.mallopt(_M_TRIM_THRESHOLD, _LARGE_BYTES)
        libc.mallopt(_M_ARENA_MAX, 1)


def release_freed_memory() -> None:
    """Return freed memory to the system; takes milliseconds.

    The largest part follows set-up: libbpf reads the kernel's types (BTF) to load a program.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)
