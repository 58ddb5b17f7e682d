"""Identification of the locks at addresses that threads wait at: a question to a limited child.

Mappings and thread IDs come from the kernel, and tell which files to open. Those files and the
process' memory are read after all rights are given up.

Addresses come from the asker, which may have been taken over. Only words of writable memory, as
futexes are, are examined. The answer has a kind, a name and a place, never a byte of memory.
"""

import ctypes
import hashlib
import os
import platform
import re
from collections.abc import Mapping as MappingOf
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from tidscope_confinement.resources import Limits, limit_resources

from tidscope_collector.confinement.fork_server import confine
from tidscope_collector.goruntime.elf import Elf, ElfError, is_go, read_elf
from tidscope_collector.goruntime.functions import variables_at
from tidscope_collector.inspection.answering import (
    MEMORY_BYTES,
    PROGRAM_S,
    Arguments,
    open_named_folder,
    say,
)
from tidscope_collector.inspection.lock_kinds import (
    AFTER,
    BEFORE,
    JOIN,
    JVM_LIBRARY,
    Found,
    Place,
    Program,
    Surroundings,
    Variable,
    classify,
    classify_thread_local,
    is_contended,
    is_semaphore,
    mutex_holder,
)
from tidscope_collector.inspection.mapped_files import is_mapped, open_mapped
from tidscope_collector.inspection.maps import (
    MAPS_BYTES,
    Mapping,
    ThreadLocals,
    holding,
    object_start,
    parse_maps,
)
from tidscope_collector.inspection.process_files import (
    open_file,
    read_beginning,
    thread_ids,
)
from tidscope_collector.inspection.python_threads import (
    Frame,
    Memory,
    current_frames,
    interpreter_of,
    opened_interpreters,
    thread_of,
    waits_for_a_lock,
)

MAX_ADDRESSES = 512
"""Maximum addresses in one question."""
MAX_FILES = 64

_AUXV_BYTES = 4096
_FUTEX_BYTES = 4
"""Size and alignment of a futex, in bytes (futex(2))."""
_GET_ROBUST_LIST = {"x86_64": 274, "aarch64": 100}
_BEFORE_ROBUST_LIST = 16
"""Distance from a thread's ID, at which pthread_join waits, to its robust list. The GNU C library's
struct pthread has the ID, an unused word, the list's end, and its head."""
_NEAR_STACK = 1 << 44
_PYTHON = re.compile(rb"/(?:lib)?python[^/]*$")


class _Object(NamedTuple):
    """A loaded file: its first mapping, and a descriptor; -1 if it cannot be opened."""

    mapping: Mapping
    file: int


@dataclass(slots=True)
class _Opened:
    """Open files of a process.

    Attributes:
        mappings: mappings of its memory.
        objects: loaded files by the index of their first mapping.
        executable: descriptor of the executable.
        path: path of the executable; empty if inaccessible.
        memory: descriptor of the memory.
        tids: IDs of its threads.
        joins: addresses at which pthread_join waits for the threads.
        stacks: indexes of mappings that hold thread stacks.
        go_below: in a Go program, anonymous memory below this address is Go's own. The kernel
            places other mappings near the stack; Go asks for addresses far below
            (runtime/malloc.go).
    """

    mappings: list[Mapping]
    objects: dict[int, _Object] = field(default_factory=dict)
    executable: int = -1
    path: str = ""
    memory: int = -1
    tids: frozenset[int] = frozenset()
    joins: frozenset[int] = frozenset()
    stacks: frozenset[int] = frozenset()
    go_below: int = 0


def lock_addresses(arguments: Arguments, answer: int) -> None:
    """Answer what lies at addresses that threads wait at.

    Arguments: pid, start_ticks, addresses (at most MAX_ADDRESSES), join_place, waiters: the thread
    that has waited for a while at each address, or 0. Answers: {"unreadable": errno}, or
    {"program", "join_place"}; `program` differs for each execution. Then for each address
    {"address", "kind", "name", "base", "place", "file", "shared", "holder", "held"} (see `Found`),
    and {} at the end.
    """
    limit_resources(Limits(MEMORY_BYTES, 5, PROGRAM_S))
    try:
        folder = open_named_folder(arguments)
        maps = os.open("maps", os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        say(answer, {"unreadable": error.errno})
        return
    addresses = arguments["addresses"][:MAX_ADDRESSES]
    auxv = open_file(folder, "auxv")
    mappings = parse_maps(read_beginning(maps, MAPS_BYTES))
    opened = _open(folder, arguments["pid"], mappings, addresses)
    waits = _PythonWaits(folder, mappings, dict(zip(addresses, arguments["waiters"], strict=False)))
    confine()
    vector = read_beginning(auxv, _AUXV_BYTES)
    join_place = _join_place(opened) or arguments["join_place"]
    # Answer a digest, because the vector reveals randomized addresses.
    execution = hashlib.blake2b(vector, digest_size=16).hexdigest() if vector else ""
    say(answer, {"program": execution, "join_place": join_place})
    elf = _executable(opened)
    program = Program(
        go=_is_go(elf),
        jvm=any(one.path.endswith(JVM_LIBRARY.encode()) for one in opened.mappings),
        python=any(_PYTHON.search(one.path) for one in opened.mappings),
        tids=opened.tids,
    )
    found = _examine(opened, addresses, program, join_place)
    if elf is not None:
        found |= _thread_local(opened, elf, found, program)
    for address, one in found.items():
        near = _read_near(opened.memory, address)
        # Another process may release a mutex in shared memory.
        own = one.kind in ("lock", "mutex") and one.place != "shared memory"
        holder = mutex_holder(near, opened.tids) if own else 0
        held = (own and (bool(holder) or is_contended(near))) or waits.held(address, near)
        say(answer, {"address": address, **one._replace(holder=holder, held=held)._asdict()})
    say(answer, {})


class _PythonWaits:
    """Locks of CPython's threads that wait: semaphores, at which they also wait for work.

    Args:
        folder: descriptor of the process' folder in /proc.
        mappings: mappings of its memory.
        waiters: thread that waits at each address, or 0.
    """

    def __init__(self, folder: int, mappings: list[Mapping], waiters: dict[int, int]) -> None:
        self._inner = {
            address: thread_of(folder, tid).inner for address, tid in waiters.items() if tid
        }
        self._loaded = opened_interpreters(folder, mappings) if self._inner else []
        self._memory = Memory(open_file(folder, "mem") if self._loaded else -1)
        self._frames: dict[int, Frame] | None = None

    def held(self, address: int, near: Surroundings) -> bool:
        """True if a thread waits there for a lock, rather than for work or an end."""
        inner = self._inner.get(address)
        # Heap around a semaphore may have the bytes of a condition variable.
        if inner is None or not is_semaphore(near):
            return False
        if self._frames is None:
            found = interpreter_of(self._loaded, self._memory)
            self._frames = dict(current_frames(self._memory, *found)) if found else {}
        frame = self._frames.get(inner)
        return frame is not None and waits_for_a_lock(frame)


def _open(folder: int, pid: int, mappings: list[Mapping], addresses: Sequence[int]) -> _Opened:
    opened = _Opened(mappings)
    opened.executable = open_file(folder, "exe")
    with suppress(OSError):
        opened.path = _text(os.fsencode(os.readlink("exe", dir_fd=folder)))
    opened.memory = open_file(folder, "mem")
    opened.tids = frozenset(thread_ids(folder))
    stack = next((one.start for one in mappings if one.path == b"[stack]"), 0)
    opened.go_below = stack - _NEAR_STACK
    joins = _joins(opened.tids)
    opened.joins = frozenset(joins.values())
    # The loader chooses the place of the first thread's ID, so it is excluded.
    of_others = (address for tid, address in joins.items() if tid != pid)
    opened.stacks = frozenset(at for at in map(partial(holding, mappings), of_others) if at)
    wanted = {
        place: object_start(mappings, place)
        for place in (holding(mappings, address) for address in addresses)
        if place is not None
    }
    for first in sorted({start for start in wanted.values() if start is not None}):
        if len(opened.objects) == MAX_FILES:
            break
        mapping = mappings[first]
        opened.objects[first] = _Object(mapping, _open_object(folder, mapping, opened.executable))
    return opened


def _open_object(folder: int, mapping: Mapping, executable: int) -> int:
    if is_mapped(executable, mapping):
        return executable
    return open_mapped(folder, mapping)


def _joins(tids: frozenset[int]) -> dict[int, int]:
    """Return known addresses at which pthread_join waits for threads, by thread ID."""
    number = _GET_ROBUST_LIST.get(platform.machine())
    if number is None:
        return {}
    call = ctypes.CDLL(None).syscall
    head, size = ctypes.c_uint64(), ctypes.c_size_t()
    found = {}
    for tid in tids:
        head.value = 0
        if call(number, tid, ctypes.byref(head), ctypes.byref(size)) == 0 and head.value:
            found[tid] = head.value - _BEFORE_ROBUST_LIST
    return found


def _join_place(opened: _Opened) -> int:
    """Return the most frequent offset of a thread's ID below its stack's end; 0 if unknown."""
    places: dict[int, int] = {}
    for address in opened.joins:
        at = holding(opened.mappings, address)
        if at is not None and at in opened.stacks:
            place = opened.mappings[at].end - address
            places[place] = places.get(place, 0) + 1
    return max(places, key=lambda place: places[place], default=0)


def _executable(opened: _Opened) -> Elf | None:
    """Return the program's own file, or None if it is unreadable."""
    try:
        return read_elf(opened.executable) if opened.executable >= 0 else None
    except (ElfError, OSError):
        return None


def _is_go(elf: Elf | None) -> bool:
    try:
        return elf is not None and is_go(elf)
    except (ElfError, OSError):
        return False


def _examine(
    opened: _Opened, addresses: Sequence[int], program: Program, join_place: int
) -> dict[int, Found]:
    by_object: dict[int, list[int]] = {}
    found: dict[int, Found] = {}
    for address in addresses:
        at = holding(opened.mappings, address)
        if at is None or not _may_be_futex(opened.mappings[at], address):
            found[address] = Found("unknown", "", address, "gone", "")
            continue
        mapping = opened.mappings[at]
        if address in opened.joins or _is_join(mapping, address, join_place):
            found[address] = Found("join", JOIN, address, "stack", "")
            continue
        start = object_start(opened.mappings, at)
        if start is not None and start in opened.objects:
            by_object.setdefault(start, []).append(address)
        shared = mapping.permissions[3] == "s"
        place: Place = "shared memory" if shared else "heap" if mapping.anonymous else "file"
        if mapping.path == b"[stack]" or at in opened.stacks:
            place = "stack"
        near = _read_near(opened.memory, address)
        go_heap = mapping.anonymous and mapping.path != b"[heap]" and address < opened.go_below
        one = classify(program, address, place, near, go_heap=go_heap)
        if not mapping.anonymous:
            one = one._replace(file=_text(mapping.path))
        if shared:
            one = one._replace(shared=_shared_place(mapping, one.base))
        found[address] = one
    for start, group in by_object.items():
        found |= _by_symbols(opened, opened.objects[start], group, program)
    return found


def _shared_place(mapping: Mapping, address: int) -> str:
    """Identify a place in memory that processes share, which each may map elsewhere."""
    major, minor = mapping.device
    return f"{major}:{minor} {mapping.inode} {mapping.offset + address - mapping.start}"


def _may_be_futex(mapping: Mapping, address: int) -> bool:
    return address % _FUTEX_BYTES == 0 and mapping.permissions[1] == "w"


def _thread_local(
    opened: _Opened, elf: Elf, found: MappingOf[int, Found], program: Program
) -> dict[int, Found]:
    """Identify addresses in thread-local memory."""
    locals_ = ThreadLocals(elf, opened.memory, opened.joins)
    places = {
        address: place
        for address, one in found.items()
        if one.kind != "join"
        and one.place != "gone"
        and (place := locals_.place(address)) is not None
    }
    if not places or program.go:
        return {}
    try:
        symbols = variables_at(elf, list(places.values()), thread_local=True)
    except (ElfError, OSError):
        symbols = {}
    made = {}
    for address, place in places.items():
        symbol = symbols.get(place)
        name, begin, size = ("", 0, 0) if symbol is None else symbol
        variable = Variable(name, place - begin, size, opened.path, executable=True)
        made[address] = classify_thread_local(
            program, address, _read_near(opened.memory, address), variable
        )
    return made


def _is_join(mapping: Mapping, address: int, join_place: int) -> bool:
    """Return True if the ID of an ended thread was at the address."""
    return mapping.anonymous and not mapping.path and mapping.end - address == join_place


def _by_symbols(
    opened: _Opened, loaded: _Object, addresses: Sequence[int], program: Program
) -> dict[int, Found]:
    """Identify addresses in a file's variables by its symbols; others are left out."""
    path = _text(loaded.mapping.path)
    executable = loaded.file == opened.executable
    try:
        elf = read_elf(loaded.file)
        first = next(one for one in elf.segments if one.offset >= loaded.mapping.offset)
        base = loaded.mapping.start - (first.address - (first.offset - loaded.mapping.offset))
        linked = {
            address: address - base
            for address in addresses
            if any(0 <= address - base - one.address < one.memory_size for one in elf.segments)
        }
        symbols = variables_at(elf, list(linked.values()))
    except (ElfError, OSError, StopIteration):
        return {}
    found = {}
    for address, place in linked.items():
        symbol = symbols.get(place)
        variable = (
            Variable("", place, 0, path, executable)
            if symbol is None
            else Variable(symbol.name, place - symbol.address, symbol.size, path, executable)
        )
        near = _read_near(opened.memory, address)
        found[address] = classify(program, address, "file", near, variable)
    return found


def _text(path: bytes) -> str:
    return path.removesuffix(b" (deleted)").decode(errors="replace")


def _read_near(memory: int, address: int) -> Surroundings:
    begin = max(0, address - BEFORE)
    try:
        data = os.pread(memory, address - begin + AFTER, begin) if memory >= 0 else b""
    except (OSError, OverflowError):
        data = b""
    if len(data) > address - begin:
        return Surroundings(data, address - begin, address)
    # The memory before the address is not mapped.
    try:
        return Surroundings(os.pread(memory, AFTER, address) if memory >= 0 else b"", 0, address)
    except (OSError, OverflowError):
        return Surroundings(b"", 0, address)
