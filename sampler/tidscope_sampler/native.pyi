"""The native sampler: takes samples of targets in a thread of its own, and makes their frames.

Times are nanoseconds on CLOCK_MONOTONIC unless said otherwise. Descriptors are duplicated: the
caller may close its own. Set-up (`use_*`) comes before `start`. Methods that name a target do
nothing, or return None, if it is not being sampled. After `stop` they raise RuntimeError.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypedDict

VERSION: str
BPF_OBJECTS: tuple[str, ...]

def bpf_object(name: str) -> bytes:
    """Return an eBPF object file: task_iterator, waits, netacct or groups."""

class Session(Protocol):
    """Signs a link in. Methods run in the thread of the link and may block.

    The text of an exception says why signing in failed.
    """

    def headers(self) -> list[tuple[str, str]]:
        """Return headers of the next upgrade request."""
    def accept(self, proof: str | None) -> None:
        """Check the backend's header Tidscope-Proof; None without one."""

class Link:
    """Keeps frames until the backend confirms them, and sends them, in a thread of its own.

    Args:
        address: host name and port, or path of a Unix socket and None.
        secure: True for TLS.
        host: value of the header Host.
        path: path of the request.
        session: signs in.
        most_confirmed: maximum size of confirmed frames, in bytes.
        most_waiting: maximum size of unconfirmed frames, in bytes.
    """

    def __init__(
        self,
        address: tuple[str, int | None],
        secure: bool,
        host: str,
        path: str,
        session: Session,
        most_confirmed: int,
        most_waiting: int,
    ) -> None: ...
    def connect(self, hello: str) -> None:
        """Connect with this first message, and again whenever the connection ends."""
    def disconnect(self) -> None:
        """End the connection, and make none until `connect`."""
    def stop(self) -> None:
        """End the thread. Idempotent."""
    def add(self, target: str, seq: int, data: bytes, key: bool, baseline: bool = False) -> None:
        """Send a frame as the sampler does."""
    def say(self, text: str) -> bool:
        """Send a text behind the frames that were sent. Return False without a connection."""
    def load(self) -> dict[str, Any]:
        """Return the fields of tidscope_collector.sampling.selfwatch.Load, and `connected`."""
    def last(self) -> dict[str, int]:
        """Return the number of the newest frame of each target that has one."""
    def is_sent(self, target: str) -> bool:
        """Return True if all frames of a target were sent or reported lost."""
    def forget(self, target: str) -> None:
        """Drop all frames of an ended target."""
    def is_stalled(self) -> bool:
        """Return True if a connected backend is so slow that no frames are made."""
    def notice(self) -> str | None:
        """Return a text for the log about the last connection, or None. Each is returned once."""
    def deliver(self, seconds: float) -> int:
        """Wait until the backend has all frames.

        Returns:
            Size of frames that it does not have, in bytes; at once after `disconnect`.
        """

class Sampler:
    """Samples targets in a thread of its own.

    Args:
        procfs: root of /proc.
        role_words: words that are roles of their own in names of threads.
        max_roles: roles with totals of their own.
        max_names: names of ended processes with rows of their own.
        tables: tables of frames: name, columns with their kinds (uint32, uint64, utf8), number of
            key columns, and what rows are (figures, names, log).
    """

    def __init__(
        self,
        procfs: str,
        role_words: Sequence[str],
        max_roles: int,
        max_names: int,
        tables: Sequence[tuple[str, Sequence[tuple[str, str]], int, str]],
    ) -> None: ...
    def use_taskstats(
        self,
        socket: int,
        family: int,
        payload: int,
        version: int,
        length: int,
        profile: str,
        offsets: Sequence[tuple[str, int]],
    ) -> None:
        """Ask taskstats over a generic netlink socket.

        Args:
            socket: non-blocking.
            family: number of the family TASKSTATS.
            payload: offset of struct taskstats in a reply, in bytes.
            version: version of the struct.
            length: its length, in bytes.
            profile: what the kernel appends to it; empty for a stock kernel.
            offsets: members and their offsets, in bytes.
        """
    def use_exits(self, links: Sequence[tuple[int, int]]) -> None:
        """Take exit records from registered sockets: CPU and descriptor of each."""
    def use_walk(self, blocks: int, program: int, visits: int | None = None) -> None:
        """Read counters in one walk of the kernel.

        Args:
            blocks: map that counters are written to.
            program: program that walks many processes, or without `visits` a task iterator.
            visits: map that names the processes.
        """
    def use_ledger(
        self,
        slots: int,
        control: int,
        watched: int,
        targets: int,
        vacant: int,
        details: int,
        walks: tuple[int, int],
        beside: tuple[int, int, int, int],
        counts_calls: bool,
    ) -> None:
        """Keep ledgers of states in these maps of waits.bpf.c.

        Args:
            slots: map of this name, like the others.
            control: see `slots`.
            watched: see `slots`.
            targets: see `slots`.
            vacant: see `slots`.
            details: see `slots`.
            walks: programs begin_ledgers, let_go_throttled.
            beside: maps edges, takers, call_counts, names.
            counts_calls: True if its programs that count system calls are attached, too.
        """
    def use_network(
        self,
        slots: int,
        control: int,
        watched: int,
        targets: int,
        vacant: int,
        uncounted: int | None = None,
    ) -> None:
        """Count network bytes in these maps of netacct.bpf.c.

        Args:
            slots: map of this name, like the others.
            control: see `slots`.
            watched: see `slots`.
            targets: see `slots`.
            vacant: see `slots`.
            uncounted: map of reads that are not counted; None if all are.
        """
    def use_groups(
        self,
        events: int,
        members: int,
        unfinished: int,
        cgroups: int,
        control: int,
        v1_hierarchy: int,
        lent: int,
    ) -> None:
        """Follow groups by these maps of groups.bpf.c.

        Args:
            events: map of this name, like the others.
            members: see `events`.
            unfinished: see `events`.
            cgroups: see `events`.
            control: see `events`.
            v1_hierarchy: number of the hierarchy of version 1 with cpuacct; 0 without one.
            lent: who counts for members: 1 ledgers, 2 the network, 3 both.
        """
    def use_link(self, link: Link, recorder: Link | None = None) -> None:
        """Send frames over this link; without one they are discarded.

        Args:
            link: to the backend.
            recorder: to a recorder on this host, which never slows sampling down.
        """
    def check_walk(self, pid: int, base: Sequence[tuple[str, str]]) -> str | None:
        """Walk a process before the start, and compare with taskstats.

        Args:
            pid: process ID.
            base: columns, and members of struct taskstats.

        Returns:
            Why it cannot be walked; None if it can.
        """
    def leave_out_walk(self) -> None:
        """Give up walks, before the start."""
    def disagreement(self) -> str | None:
        """Return where a walk and taskstats disagreed; None if they never did."""
    def start(self) -> None:
        """Start the thread.

        Raises:
            OSError: the kernel refused.
        """
    def stop(self) -> None:
        """Take last samples of all targets, end the thread, and close descriptors. Idempotent."""
    def notices_fileno(self) -> int:
        """Return the descriptor that is readable while there are notices."""
    def take_notices(self) -> dict[str, Any]:
        """Return notices by target: see tidscope_collector.sampling.notices.Notice."""
    def attach(self, target: Mapping[str, object]) -> None:
        """Begin to sample a target; the first sample is taken at once.

        Args:
            target: see sampler/src/python/convert.rs, PyTarget.

        Raises:
            ProcessLookupError: the process has ended.
            OSError: the kernel refused.
            ValueError: columns that nobody has.
        """
    def change_members(
        self,
        target: str,
        come: Sequence[Mapping[str, object]],
        gone: Sequence[tuple[int, int]],
    ) -> None:
        """Add processes to a group, and take others out.

        Args:
            target: target ID.
            come: new members, see PyNewcomer.
            gone: process ID, and when it ended or left.
        """
    def finish(self, target: str, exited: bool) -> int | None:
        """End a target: it has ended, or somebody asked to stop.

        Returns:
            Number of its last frame.
        """
    def flush(self, target: str) -> tuple[int, int] | None:
        """Emit all of a target up to now.

        Returns:
            Number of the last frame, and of threads that have exited; None if it is over.
        """
    def set_rate(self, target: str, rate_hz: float, requested: bool, event: str) -> bool:
        """Sample at another rate.

        Args:
            target: target ID.
            rate_hz: samples per second.
            requested: True if somebody asked for this rate.
            event: event to report, JSON.
        """
    def report(self, target: str, event: str) -> bool:
        """Report an event, JSON, with the next frame."""
    def rename(
        self,
        target: str,
        names: Sequence[tuple[int, str]],
        process: int | None = None,
        by_span: bool = False,
    ) -> None:
        """Give threads names of their program, by thread ID.

        Args:
            target: target ID.
            names: names by thread ID; unknown threads are ignored.
            process: rename threads of this process only.
            by_span: the names are those of spans, which stand against others of the program.
        """
    def set_program(self, target: str, now_executable: str | None, now_name: str) -> None:
        """Say which program a process runs now, so that another one is noticed.

        Args:
            target: target ID.
            now_executable: where /proc/PID/exe points to; None if that may not be seen.
            now_name: name of the main thread.
        """
    def set_gomaxprocs(self, target: str, connection: int | None, size: int | None = None) -> None:
        """Read GOMAXPROCS over another connection to a child; None to stop."""
    def set_gauges(
        self,
        target: str,
        rss_bytes: int | None,
        delay_accounting: bool | None,
        cpu_limit: float | None,
        cgroup: tuple[int | None, int | None, int | None],
        limits: tuple[int | None, ...],
        machine: str,
        locks_reason: str | None,
    ) -> None:
        """Set what frames say of the process and the machine.

        Args:
            target: target ID.
            rss_bytes: resident memory.
            delay_accounting: True if it is on.
            cpu_limit: cores.
            cgroup: periods of the limit, throttled ones, throttled time in microseconds.
            limits: `GroupLimits`, in the order of its members.
            machine: MachineCounters, JSON.
            locks_reason: why locks cannot be read or named.
        """
    def set_group(
        self, target: str, missed: int | None, check: str | None, cpu_ns: int | None
    ) -> None:
        """Set what frames say of a group.

        Args:
            target: target ID.
            missed: processes that may have been missed; None if unknown.
            check: GroupCheck, JSON.
            cpu_ns: CPU time for the next frame; None to keep what was set before.
        """
    def set_health(self, health: Mapping[str, object]) -> None:
        """Set the health of the whole collector; see CommonHealth in sampler/src/engine."""
    def give_tables(
        self, target: str, tables: Mapping[str, Sequence[bytes | list[str]]], read_ns: int
    ) -> None:
        """Give all tables for the next frame: all rows, of logs those that are new or completed.

        Args:
            target: target ID.
            tables: columns in the order of the shape: numbers as bytes, texts as lists.
            read_ns: when they were read, since attach.
        """
    def tell_sample(self, target: str) -> None:
        """Set `sampled` in the notice after the next sample."""
    def take_spent(self) -> tuple[int, dict[str, tuple[int, int]]]:
        """Return CPU time since the last call: of the thread, and by target with bytes of frames.

        Times are in nanoseconds.
        """
    def total(self, target: str, fields: Sequence[str]) -> int | None:
        """Sum of columns over all threads, the ended ones too."""
    def members(
        self, target: str
    ) -> list[tuple[int, int, int, int, int, str, int | None, bool, bool, int]] | None:
        """Return processes that live or ended lately.

        Returns:
            Number, parent's number, process ID, start, start in clock ticks since boot, name, real
            user ID, True if counters had begun before, True if a sample saw it, end (0: it lives).
        """
    def process_rows(
        self, target: str, fields: Sequence[str]
    ) -> list[tuple[int, int | None, str, bool, int, int, int, list[int]]] | None:
        """Return sums by process.

        Returns:
            Number, process ID (None: ended processes of one name), name, True if it lives, live
            threads, ended threads, processes of the row, sums of `fields`.
        """
    def inexact(self, target: str) -> list[tuple[int, str, int, int, bool]] | None:
        """Return counters of the kernel that cannot be.

        Returns:
            Thread ID, field, value of the kernel, life of the thread in nanoseconds, True if the
            ledger's value replaces it.
        """
    def uncounted_reads(self, target: str) -> list[tuple[int, int, int]] | None:
        """Return threads with TCP reads that were not counted: thread ID, reads, life in ns."""
    def wait_tables(
        self, target: str
    ) -> (
        tuple[dict[str, dict[str, tuple[bool, bytes]]], list[tuple[int, str, int, bool, bool]]]
        | None
    ):
        """Return tables beside ledgers; see sampler/src/ledger/tables/made.rs.

        Returns:
            By table and column: True if values have 64 bits, and the values in native byte order;
            processes by key: name, start in clock ticks since boot (0: unknown), True for a kernel
            thread, True if it stands for further processes of its name. None without ledgers.
        """
    def threads(self, target: str) -> list[tuple[int, int, int, str, str]] | None:
        """Return live threads: thread ID, process ID, start since attach, name, kernel's name."""

class ElfLinks(TypedDict):
    """Links of an ELF file: its identity, and the files with its debug information.

    Attributes:
        build_id: build ID; empty without one.
        debug_name: name of its debug file (.gnu_debuglink); empty without one.
        debug_crc: CRC-32 of its debug file.
        shared_path: path of the supplementary file that its DWARF refers to (.gnu_debugaltlink);
            empty without one.
        shared_id: build ID of the supplementary file.
        base: lowest address of a loaded segment.
        lines: True if it has DWARF.
        symbols: True if it has the symbol table for debugging.
    """

    build_id: bytes
    debug_name: bytes
    debug_crc: int
    shared_path: bytes
    shared_id: bytes
    base: int
    lines: bool
    symbols: bool

def elf_links(file: int | bytes) -> ElfLinks:
    """Return what an ELF file says about itself.

    This function and the next ones take an open file, which they map, or bytes. A file may be
    hostile and take any time and memory: call them in a limited child only. They make no other
    system calls than lseek, mmap and munmap. Addresses are those of the file's own headers.

    Raises:
        OSError: the file cannot be mapped.
        ValueError: it is no little-endian ELF file, or is damaged.
    """

def elf_section(file: int | bytes, name: str, most: int) -> bytes | None:
    """Return the bytes of a section as the file has them; None without it or beyond a size.

    Raises:
        OSError: the file cannot be mapped.
        ValueError: it is no little-endian ELF file, or is damaged.
    """

def elf_functions(file: int | bytes, addresses: Sequence[int]) -> list[tuple[int, str]]:
    """Return the function at each address by symbol tables; unknown addresses are left out.

    Raises:
        OSError: the file cannot be mapped.
        ValueError: it is no little-endian ELF file, or is damaged.
    """

def elf_lines(
    file: int | bytes,
    shared: int | bytes | None,
    addresses: Sequence[int],
    each: Callable[[int, list[tuple[str, str, int]]], object],
) -> None:
    """Find lines and inlined functions at addresses by DWARF.

    Args:
        file: file with DWARF.
        shared: supplementary file that the DWARF refers to, if any.
        addresses: addresses; unknown ones are left out.
        each: called with an address and its functions, the innermost one first: name as linkers
            know it, path and line; empty and 0 if unknown.

    Raises:
        OSError: a file cannot be mapped.
        ValueError: a file is no little-endian ELF file, or its DWARF is damaged.
    """
