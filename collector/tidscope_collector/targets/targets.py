"""Targets: attach, detach, change the rate, and what became of each."""

import logging
import secrets
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from tidscope_wire.generated.models import Process, Target
from tidscope_wire.problems import ProblemError, refusal

from tidscope_collector.foreign.gomaxprocs import open_gomaxprocs
from tidscope_collector.naming.thread_names import ThreadNames
from tidscope_collector.processes.identity import identify
from tidscope_collector.processes.listing import ProcessLister
from tidscope_collector.processes.refusals import attach_refusal
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.engine import Engine
from tidscope_collector.sampling.target import TargetSampler
from tidscope_collector.targets.host import MAX_TARGETS
from tidscope_collector.targets.sources import Sources
from tidscope_collector.targets.tables import TargetTables
from tidscope_collector.threads.reading import TargetExitedError

log = logging.getLogger("tidscope.targets")


class TargetRegistry:
    """What is attached to; its methods take their time and are called from worker threads."""

    def __init__(self, host: str, procfs: ProcFs, sources: Sources, engine: Engine) -> None:
        self._host = host
        self._procfs = procfs
        self._sources = sources
        self._engine = engine
        self._lister = ProcessLister(procfs)
        self._lock = threading.Lock()
        self._known: dict[str, Target] = {}
        self._tables: dict[str, TargetTables] = {}
        self._names: dict[str, ThreadNames] = {}
        self._workers = ThreadPoolExecutor(MAX_TARGETS, "describe")

    def all(self) -> list[Target]:
        """All targets, ended ones included until they are forgotten."""
        return list(self._known.values())

    def update(self, target: Target) -> None:
        """A target changed, says the sampling thread."""
        self._known[target.id] = target

    def forget(self, target: str) -> None:
        """Speak of an ended target no more."""
        self._known.pop(target, None)
        self._tables.pop(target, None)
        self._names.pop(target, None)

    def processes(self) -> list[Process]:
        """List the processes of the host."""
        # A switch that someone else has set is noticed here, before what is started next.
        self._sources.delays.state()
        with self._lock:
            return self._lister.processes()

    def attach(self, pid: int, start_ticks: int | None, rate_hz: float) -> tuple[Target, bool]:
        """Attach to a process.

        Returns:
            The target, and whether it is new.

        Raises:
            ProblemError: it cannot be attached to.
        """
        found = identify(self._procfs, pid)
        problem = attach_refusal(pid, found, start_ticks)
        if problem is not None:
            raise ProblemError(problem)
        process = next((one for one in self.processes() if one.pid == pid), None)
        if process is None:
            raise _exited(pid)
        with self._lock:
            active = [one for one in self._known.values() if one.state == "attached"]
            for one in active:
                if (one.process.pid, one.process.start_ticks) == (pid, process.start_ticks):
                    return one, False
            if len(active) >= MAX_TARGETS:
                raise refusal(
                    "too-many-targets",
                    f"{len(active)} processes are attached; the limit is {MAX_TARGETS}",
                    "Detach one that is no longer needed.",
                )
            return self._open(process, rate_hz), True

    def _open(self, process: Process, rate_hz: float) -> Target:
        program = open_gomaxprocs(self._procfs, process.pid, process.start_ticks)
        # Ledgers begin with the reader: no stay in them began before the attachment.
        attach_ns = time.monotonic_ns()
        try:
            reader = self._sources.target_reader(process.pid, rate_hz, attach_ns)
            target = Target(
                id=f"t-{process.pid}-{secrets.token_hex(4)}",
                host=self._host,
                process=process,
                state="attached",
                rate_hz=rate_hz,
                attached_unix_us=time.time_ns() // 1000,
                source=self._sources.describe(),
                energy=self._engine.energy,
                fields=list(reader.fields),
                absent=self._sources.explain(reader.absent),
                gomaxprocs=program.reader.read() if program.reader else None,
                gomaxprocs_reason=program.reason,
                role_rules=list(self._sources.naming.role_rules) or None,
                steering=None,
            )
            tables = self._sources.tables(reader, process)
            names = self._sources.thread_names(process)
            sampler = TargetSampler(
                target,
                reader,
                program.reader,
                attach_ns,
                self._procfs,
                self._sources.delays,
                tables,
                self._sources.compiled,
                names,
            )
        except TargetExitedError:
            raise _exited(process.pid) from None
        self._known[target.id] = target
        sampler.on_change = lambda executed: self._workers.submit(
            self._describe_again, target, executed
        )
        self._tables[target.id] = tables
        if names is not None:
            self._names[target.id] = names
        self._engine.submit(lambda: self._engine.add(sampler)).result()
        return target

    def _describe_again(self, target: Target, executed: bool) -> None:
        """Find out which program a target runs now; in a worker thread."""
        pid, start_ticks = target.process.pid, target.process.start_ticks
        try:
            listed = {(one.pid, one.start_ticks): one for one in self.processes()}
        except OSError as error:
            log.warning("process %d cannot be described again: %s", pid, error)
            return
        process = listed.get((pid, start_ticks))
        if process is None:
            return
        tables = self._tables.get(target.id)
        if executed and tables is not None:
            tables.executed(lambda: self._sources.ledger.account_of(process))
        names = self._names.get(target.id)
        if executed and names is not None:
            names.executed(self._sources.name_source(process))
        program = open_gomaxprocs(self._procfs, pid, start_ticks) if executed else None
        reader = None if program is None else program.reader
        size = None if reader is None else reader.read()

        def give() -> None:
            sampler = self._engine.find(target.id)
            if sampler is not None:
                sampler.describe_again(process, program, size)
            elif reader is not None:
                reader.close()

        self._engine.submit(give)

    def detach(self, target: str) -> Target:
        """Stop sampling.

        Raises:
            ProblemError: there is no such target.
        """
        ended: Target | None = self._engine.submit(lambda: self._engine.detach(target)).result()
        if ended is None:
            known = self._known.get(target)
            if known is None:
                raise _unknown(target)
            return known
        return ended

    def attached(self, target: str) -> Target:
        """A target that is being sampled.

        Raises:
            ProblemError: there is no such target, or it has ended.
        """
        known = self._known.get(target)
        if known is None:
            raise _unknown(target)
        if known.state != "attached":
            raise _exited(known.process.pid)
        return known

    def set_rate(self, target: str, rate_hz: float) -> Target:
        """Sample at another rate.

        Raises:
            ProblemError: there is no such target, or it has ended.
        """

        ask = self._engine.ask_rate
        changed: Target | None = self._engine.submit(lambda: ask(target, rate_hz)).result()
        if changed is None:
            if target in self._known:
                raise _exited(self._known[target].process.pid)
            raise _unknown(target)
        self.update(changed)
        return changed


def _unknown(target: str) -> ProblemError:
    return refusal(
        "unknown-target",
        f"no target {target!r} is attached",
        "Look at the list of targets; attach to the process again if it was detached.",
    )


def _exited(pid: int) -> ProblemError:
    return refusal("target-exited", f"process {pid} has exited", "Pick a process that is running.")
