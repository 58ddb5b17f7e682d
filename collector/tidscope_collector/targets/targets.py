"""The list of targets: attach, detach, change the rate, forget."""

import logging
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from tidscope_wire.generated.limits import MAX_ROLE_RULES
from tidscope_wire.generated.models import (
    GroupSelector,
    Process,
    RoleRule,
    SizeAudit,
    StackSampling,
    Target,
)
from tidscope_wire.problems import ProblemError, refusal

from tidscope_collector.groups.cgroups import processes_in
from tidscope_collector.groups.selector import Selection, select
from tidscope_collector.inspection.gomaxprocs import open_gomaxprocs
from tidscope_collector.naming.span_names import LiveThread, names_to_give
from tidscope_collector.naming.thread_names import ThreadNames
from tidscope_collector.processes.cgroup_names import ContainerNames
from tidscope_collector.processes.identity import attach_refusal, identify
from tidscope_collector.processes.listing import ProcessLister
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.engine import Engine, Flushed
from tidscope_collector.sizing.audit import audit_sizes
from tidscope_collector.targets.opening import Opened, TargetOpener, exited
from tidscope_collector.targets.sources import Sources
from tidscope_collector.targets.tables import TargetTables

log = logging.getLogger("tidscope.targets")
MAX_TARGETS = 32
"""Maximum attached targets; further ones are refused."""


class TargetRegistry:
    """The targets of this collector. Its methods are slow and run in worker threads."""

    def __init__(self, host: str, procfs: ProcFs, sources: Sources, engine: Engine) -> None:
        self._procfs = procfs
        self._sources = sources
        self._engine = engine
        containers = ContainerNames()
        self._lister = ProcessLister(procfs, containers=containers)
        self._lock = threading.Lock()
        self._known: dict[str, Target] = {}
        self._updating = threading.Lock()
        self._tables: dict[str, TargetTables] = {}
        self._names: dict[str, ThreadNames] = {}
        self._workers = ThreadPoolExecutor(MAX_TARGETS, "describe")
        self._opener = TargetOpener(
            host,
            procfs,
            sources,
            engine,
            containers,
            self.processes,
            self._workers,
            self._begin,
        )
        sources.stacks.changed = self._note_stacks

    def all(self) -> list[Target]:
        """Return all targets, including ended ones until they are forgotten."""
        return list(self._known.values())

    def update(self, target: Target) -> None:
        """Record a change of a target. Thread-safe."""
        with self._updating:
            self._known[target.id] = target

    def forget(self, target: str) -> None:
        """Remove an ended target."""
        with self._updating:
            self._known.pop(target, None)
        self._tables.pop(target, None)
        self._names.pop(target, None)
        self._engine.forget(target)

    def processes(self) -> list[Process]:
        """List the processes of the host."""
        # Notice a switch changed by another program, before targets are started.
        self._sources.delays.state()
        with self._lock:
            return self._lister.processes()

    def audit_sizes(self) -> SizeAudit:
        """Audit pool sizes of the host's programs."""
        return audit_sizes(self._procfs, self.processes())

    def attach(
        self,
        pid: int,
        start_ticks: int | None,
        rate_hz: float,
        role_rules: Sequence[RoleRule] = (),
    ) -> tuple[Target, bool]:
        """Attach to a process.

        Args:
            pid: process ID.
            start_ticks: start time in clock ticks since boot, or None for any.
            rate_hz: samples per second.
            role_rules: role rules that precede those of the collector's command line.

        Returns:
            The target, and True if it is new.

        Raises:
            ProblemError: the process cannot be attached to.
        """
        process = self.describe(pid, start_ticks)
        with self._lock:
            known = self.find(pid, process.start_ticks)
            if known is not None:
                return known, False
            self._require_room()
            return self._opener.process(process, rate_hz, self._rules(role_rules)), True

    def attach_group(
        self, selector: GroupSelector, rate_hz: float, role_rules: Sequence[RoleRule] = ()
    ) -> tuple[Target, bool]:
        """Attach to a group of processes.

        Args:
            selector: selects the processes.
            rate_hz: samples per second.
            role_rules: as in `attach`.

        Returns:
            The target, and True if it is new.

        Raises:
            ProblemError: the group cannot be attached to.
        """
        selection, _ = self.select(selector)
        with self._lock:
            known = self.find_group(selection)
            if known is not None:
                return known, False
            self._require_room()
            return self._opener.group(selection, rate_hz, self._rules(role_rules)), True

    def _rules(self, own: Sequence[RoleRule]) -> list[RoleRule] | None:
        return [*own, *self._sources.naming.role_rules][:MAX_ROLE_RULES] or None

    def describe(self, pid: int, start_ticks: int | None = None) -> Process:
        """Return a process that can be attached to.

        Raises:
            ProblemError: it cannot be attached to.
        """
        found = identify(self._procfs, pid)
        problem = attach_refusal(pid, found, start_ticks)
        if problem is not None:
            raise ProblemError(problem)
        process = next((one for one in self.processes() if one.pid == pid), None)
        if process is None:
            raise exited(pid)
        return process

    def select(self, selector: GroupSelector) -> tuple[Selection, list[Process]]:
        """Return the selected group, and the processes of the host.

        Raises:
            ProblemError: the group cannot be attached to.
        """
        processes = self.processes()
        selection = select(selector, processes, lambda path: processes_in(self._procfs, path))
        return selection, processes

    def find(self, pid: int, start_ticks: int) -> Target | None:
        """Return the attached target of one process, or None."""
        for one in self._active():
            same = (one.process.pid, one.process.start_ticks) == (pid, start_ticks)
            if same and one.group is None:
                return one
        return None

    def find_group(self, selection: Selection) -> Target | None:
        """Return the attached target of a group, or None."""
        for one in self._active():
            if one.group is not None and _is_same(one, selection):
                return one
        return None

    @property
    def counts_network(self) -> bool:
        """True if samples have network counters."""
        return self._sources.network.kind != "none"

    def _active(self) -> list[Target]:
        return [one for one in self._known.values() if one.state == "attached"]

    def _require_room(self) -> None:
        attached = len(self._active())
        if attached >= MAX_TARGETS:
            raise refusal(
                "too-many-targets",
                f"{attached} processes are attached; the limit is {MAX_TARGETS}",
                "Detach one that is no longer needed.",
            )

    def _begin(self, opened: Opened) -> Target:
        target, sampler, tables, names = opened
        if tables is not None:
            self._tables[target.id] = tables
        if names is not None:
            self._names[target.id] = names
        self._known[target.id] = target
        sampler.on_change = lambda executed: self._workers.submit(
            self._describe_again, target, executed
        )
        try:
            self._engine.submit(lambda: self._engine.add(sampler)).result()
        except BaseException:
            self.forget(target.id)
            raise
        return target

    def _describe_again(self, target: Target, executed: bool) -> None:
        """Describe the target's new program; runs in a worker thread."""
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
            tables.executed(process, lambda: self._sources.ledger.account_of(process))
        names = self._names.get(target.id)
        if executed and names is not None:
            names.executed(self._sources.name_source(process))
        program = open_gomaxprocs(pid, start_ticks) if executed else None
        reader = None if program is None else program.reader
        size = None if reader is None else reader.read()

        def give() -> None:
            sampler = self._engine.find(target.id)
            if sampler is not None:
                sampler.describe_again(process, program, size)
            elif reader is not None:
                reader.close()

        self._engine.submit(give)

    def continue_from(self, target: Target, earlier: str) -> Target:
        """Mark a target as the continuation of an earlier collector's target.

        Args:
            target: newly attached target.
            earlier: ID of the earlier target.
        """

        def note() -> Target:
            sampler = self._engine.find(target.id)
            if sampler is None:
                return target
            sampler.target = sampler.target.model_copy(update={"continues": earlier})
            self.update(sampler.target)
            return sampler.target

        noted: Target = self._engine.submit(note).result()
        return noted

    def sample_stacks(self, target: str, seconds: float) -> Target:
        """Take stacks of a target for a while.

        Raises:
            ProblemError: the target does not exist, or has ended, or no stacks can be taken.
        """
        known = self.attached(target)
        state = self._sources.stacks.sample(target, seconds)
        return known.model_copy(update={"stacks": state})

    def note_debug_files(self, target: str, build_ids: Sequence[str]) -> Target:
        """Ask again for names of frames whose debug files can be read.

        Args:
            target: target ID.
            build_ids: build IDs, hexadecimal.

        Raises:
            ProblemError: the target does not exist, or has ended.
        """
        known = self.attached(target)
        self._sources.stacks.note_debug_files(build_ids)
        return known

    def name_threads(self, target: str, names: Mapping[tuple[int, int], str]) -> Target:
        """Give threads that nobody has named the names that spans have for them.

        Args:
            target: target ID.
            names: by process ID and thread ID.

        Raises:
            ProblemError: the target does not exist, or has ended.
        """
        known = self.attached(target)
        native = self._sources.native
        threads = [LiveThread(*one) for one in native.threads(target) or ()]
        if given := names_to_give(threads, names):
            native.rename(target, given, by_span=True)
        return known

    def _note_stacks(self, target: str, state: StackSampling) -> None:
        def note() -> None:
            sampler = self._engine.find(target)
            if sampler is not None:
                sampler.target = sampler.target.model_copy(update={"stacks": state})

        self._engine.submit(note)

    def detach(self, target: str) -> Target:
        """Stop sampling.

        Raises:
            ProblemError: the target does not exist.
        """
        self._sources.stacks.forget(target)
        ended: Target | None = self._engine.submit(lambda: self._engine.detach(target)).result()
        if ended is None:
            known = self._known.get(target)
            if known is None:
                raise _unknown(target)
            return known
        return ended

    def flush(self, target: str) -> Flushed:
        """Emit all pending data of a target.

        Raises:
            ProblemError: the target does not exist.
        """
        flushed: Flushed | None = self._engine.submit(lambda: self._engine.flush(target)).result()
        if flushed is None:
            raise _unknown(target)
        return flushed

    def attached(self, target: str) -> Target:
        """Return a target that is being sampled.

        Raises:
            ProblemError: the target does not exist, or has ended.
        """
        known = self._known.get(target)
        if known is None:
            raise _unknown(target)
        if known.state != "attached":
            raise exited(known.process.pid)
        return known

    def set_rate(self, target: str, rate_hz: float) -> Target:
        """Change the sampling rate.

        Raises:
            ProblemError: the target does not exist, or has ended.
        """

        def change() -> Target | None:
            changed = self._engine.ask_rate(target, rate_hz)
            if changed is not None:
                self.update(changed)
            return changed

        changed: Target | None = self._engine.submit(change).result()
        if changed is None:
            if target in self._known:
                raise exited(self._known[target].process.pid)
            raise _unknown(target)
        return changed


def _is_same(target: Target, selection: Selection) -> bool:
    """Return True if a target is the selected group."""
    group, lead, new = target.group, target.process, selection.lead
    if group is None or group.kind != selection.kind:
        return False
    if selection.kind == "tree":
        return (lead.pid, lead.start_ticks) == (new.pid, new.start_ticks)
    return (group.value, group.cgroup) == (selection.value, selection.cgroup)


def _unknown(target: str) -> ProblemError:
    return refusal(
        "unknown-target",
        f"no target {target!r} is attached",
        "Look at the list of targets; attach to the process again if it was detached.",
    )
