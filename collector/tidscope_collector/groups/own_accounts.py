"""Accounts that the programs of a group give: thread names, GOMAXPROCS, goroutines."""

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Protocol

from tidscope_wire.generated.models import GomaxprocsChanged, Runtime

from tidscope_collector.goroutines.goroutines import Goroutines
from tidscope_collector.groups.members import Member, Members
from tidscope_collector.inspection.gomaxprocs import GomaxprocsReader
from tidscope_collector.naming.source import NameSource
from tidscope_collector.naming.thread_names import ThreadNames
from tidscope_collector.processes.description import Description

MAX_ASKED = 32
"""Programs of a group that are asked for names; and Go programs whose GOMAXPROCS is read."""
EVERY_NS = 1_000_000_000
"""GOMAXPROCS of processes besides the lead is read so often; titles are looked at."""

Names = Mapping[int, str]
"""Names by thread ID."""


class Described(Protocol):
    """Gives what is known of a member."""

    def of(self, member: Member) -> Description: ...


@dataclass(frozen=True, slots=True)
class Asking:
    """How programs are asked.

    Attributes:
        open_gomaxprocs: makes a reader of GOMAXPROCS of a process with this id and start, or finds
            that there is none; takes its time.
        name_source: what names the threads of a process of this runtime; None: nothing does.
        ask_names: whether they may be asked for names.
        goroutines: reads their goroutines, or None if they may not be asked.
    """

    open_gomaxprocs: Callable[[int, int], GomaxprocsReader | None]
    name_source: Callable[[int, int, Runtime], NameSource | None]
    ask_names: bool
    goroutines: Goroutines | None = None


@dataclass(slots=True)
class _Program:
    """One process that is asked.

    Attributes:
        member: whose it is.
        reader: of GOMAXPROCS; None: there is none, or none yet.
        size: as read last; 0: not read.
        names: of its threads.
    """

    member: Member
    reader: GomaxprocsReader | None = None
    size: int = 0
    names: ThreadNames | None = None
    dropped: bool = False

    def close(self) -> None:
        self.dropped = True
        if self.reader is not None:
            self.reader.close()
        if self.names is not None:
            self.names.close()


class OwnAccounts:
    """Accounts that the programs of one group give of themselves; belongs to the thread of targets.

    The oldest `MAX_ASKED` programs with a runtime are asked. Each is asked for names as
    `ThreadNames` does: at most once a second, and for one part in a hundred of the time. GOMAXPROCS
    is asked for in one sample and taken in the next, so no sample waits.

    Args:
        asking: how.
        lead: id of the process whose GOMAXPROCS others read.
        workers: look into executables.
        give: runs something in the thread of targets.
    """

    def __init__(
        self,
        asking: Asking,
        lead: int,
        workers: Executor,
        give: Callable[[Callable[[], None]], object],
    ) -> None:
        self._asking = asking
        self._lead = lead
        self._workers = workers
        self._give = give
        self._programs: dict[int, _Program] = {}
        self._due_ns = 0
        self._pending: list[_Program] = []
        self._changes: list[GomaxprocsChanged] = []
        self._titles: dict[int, str] = {}
        self._left_out = 0
        self._closed = False

    def update(self, members: Members, described: Described, now_ns: int) -> None:
        """Take what has been answered, and ask again, where it is time.

        Args:
            members: of the group.
            described: what they run.
            now_ns: CLOCK_MONOTONIC.
        """
        self._collect()
        if now_ns < self._due_ns or self._closed:
            return
        self._due_ns = now_ns + EVERY_NS
        alive = {one.number: one for one in members.alive.values()}
        self._titles = {}
        wanted: list[tuple[Member, Runtime]] = []
        for member in alive.values():
            known = described.of(member)
            if known.role:
                self._titles[member.pid] = known.role
            if known.runtime in ("go", "java", "python"):
                wanted.append((member, known.runtime))
        wanted.sort(key=lambda one: one[0].start_ns)
        self._left_out = max(0, len(wanted) - MAX_ASKED)
        self._keep({member.number: runtime for member, runtime in wanted[:MAX_ASKED]}, alive)
        for program in self._programs.values():
            if program.reader is not None and program not in self._pending:
                program.reader.request()
                self._pending.append(program)

    def _keep(self, wanted: Mapping[int, Runtime], alive: Mapping[int, Member]) -> None:
        for number in self._programs.keys() - wanted.keys():
            self._drop(number)
        for number, runtime in wanted.items():
            if number not in self._programs:
                self._programs[number] = self._open(alive[number], runtime)

    def _drop(self, number: int) -> None:
        program = self._programs.pop(number)
        program.close()
        if self._asking.goroutines is not None:
            self._asking.goroutines.leave(program.member.pid)

    def _open(self, member: Member, runtime: Runtime) -> _Program:
        program, asking = _Program(member), self._asking
        if asking.ask_names:
            source = asking.name_source(member.pid, member.start_ticks, runtime)
            program.names = None if source is None else ThreadNames(member.pid, source)
        if runtime == "go" and asking.goroutines is not None:
            asking.goroutines.follow(member.pid, member.start_ticks)
        if runtime == "go" and member.pid != self._lead:
            try:
                self._workers.submit(self._find, program)
            except RuntimeError:  # it is shut down
                self._closed = True
        return program

    def _find(self, program: _Program) -> None:
        """In a worker."""
        member = program.member
        reader = self._asking.open_gomaxprocs(member.pid, member.start_ticks)
        if reader is not None:
            size = reader.read()
            self._give(lambda: self._take(program, reader, size))

    @staticmethod
    def _take(program: _Program, reader: GomaxprocsReader, size: int | None) -> None:
        if program.dropped:
            reader.close()
        else:
            program.reader, program.size = reader, size or 0

    def _collect(self) -> None:
        """Without waiting: who has not answered by now is looked at in the next sample."""
        for program in self._pending:
            size = None if program.reader is None else program.reader.collect(0)
            if size is None:
                continue
            if program.size and size != program.size:
                changed = GomaxprocsChanged(
                    size=size, previous=program.size, pid=program.member.pid
                )
                self._changes.append(changed)
            program.size = size
        self._pending = []

    def executed(self, pid: int) -> None:
        """A member runs another program: what the one before was asked says nothing of it."""
        for number, program in list(self._programs.items()):
            if program.member.pid == pid:
                self._drop(number)

    def began(self, pids: Collection[int]) -> None:
        """Threads of these processes began, or have other names."""
        for program in self._programs.values():
            if program.names is not None and program.member.pid in pids:
                program.names.request()

    def take_names(self) -> list[tuple[int, Names]]:
        """Names that came since they were taken last, and the processes that they are of."""
        found: list[tuple[int, Names]] = []
        if self._asking.ask_names:
            found += [(pid, {pid: role}) for pid, role in self._titles.items()]
        self._titles = {}
        for program in self._programs.values():
            if program.names is not None and (names := program.names.take()):
                found.append((program.member.pid, names))
        return found

    def take_changes(self) -> list[GomaxprocsChanged]:
        """Changes of GOMAXPROCS since they were taken last."""
        changes, self._changes = self._changes, []
        return changes

    def size_of(self, number: int) -> int:
        """GOMAXPROCS of a member by its number; 0: it is not read here."""
        program = self._programs.get(number)
        return 0 if program is None else program.size

    @property
    def description(self) -> str | None:
        """How threads got their names; None: there is nothing to say."""
        asked = [one.names for one in self._programs.values() if one.names is not None]
        if not asked:
            return None
        answered = sum(names.asked > 0 for names in asked)
        left_out = f"; {self._left_out} more are not asked" if self._left_out else ""
        return f"{answered} of {len(asked)} programs that were asked named theirs{left_out}"

    def close(self) -> None:
        """Ask nobody any more."""
        self._closed = True
        for program in self._programs.values():
            program.close()
        self._programs.clear()
