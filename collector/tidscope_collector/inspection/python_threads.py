"""Functions that CPython's threads were started with: a question to a limited child.

A thread keeps its frames in chunks of memory, oldest first: those of threading.Thread, which do not
return while it lives, then that of its target (push_chunk in Python/pystate.c). Other frames are
not read. Reading neither stops nor slows the program. Versions: 3.11 to 3.13; older ones have other
frames, newer ones give threads their names in the kernel.
"""

import os
import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

from tidscope_confinement.resources import Limits, limit_resources

from tidscope_collector.confinement.fork_server import confine
from tidscope_collector.goruntime.elf import Elf, ElfError, read_elf
from tidscope_collector.inspection.answering import (
    MEMORY_BYTES,
    PROGRAM_S,
    Arguments,
    open_named_folder,
    say,
)
from tidscope_collector.inspection.mapped_files import open_mapped
from tidscope_collector.inspection.maps import MAPS_BYTES, PAGE, Mapping, parse_maps
from tidscope_collector.inspection.process_files import open_file, read_beginning, thread_ids

LONGEST = 64
"""Maximum length of a function's name, in characters; longer ones are cut."""
MAX_THREADS = 4096
MAX_INTERPRETERS = 16
POOL = "ThreadPoolExecutor"
"""Name of the workers of concurrent.futures.ThreadPoolExecutor."""
ANYIO = "AnyIO worker thread"
"""Name that AnyIO gives its workers, in which FastAPI and Starlette run blocking functions."""

_INTERPRETER = re.compile(rb"/(?:lib)?python3[^/]*$")
_NAME = re.compile(r"[\w.<>]+")
_MAX_FRAMES = 8
_MAX_CHUNKS = 64
_STACK_BYTES = 4096
_CODE_BYTES = 136
_AUXV_BYTES = 4096
_STATUS_BYTES = 4096
_WORD = struct.Struct("<Q")
_INT = struct.Struct("<i")
_COMPACT_ASCII = 0b1100000


class Layout(NamedTuple):
    """Offsets in bytes, from the headers of a version (Include/internal, Include/cpython).

    Attributes:
        interpreters: first interpreter in _PyRuntimeState.
        next_interpreter: next in PyInterpreterState.
        threads: first thread in PyInterpreterState.
        thread_id: native_thread_id in PyThreadState.
        chunk: datastack_chunk in PyThreadState.
        frames: cframe in PyThreadState, or its current_frame if `current` is -1.
        current: current_frame in _PyCFrame.
        code: code object in _PyInterpreterFrame.
        locals_count: co_nlocalsplus in PyCodeObject; 0 if `frame_size` is there.
        stack_size: co_stacksize in PyCodeObject; 0 if `frame_size` is there.
        frame_size: co_framesize in PyCodeObject, in words.
        text: characters behind a PyASCIIObject.
    """

    interpreters: int
    next_interpreter: int
    threads: int
    thread_id: int
    chunk: int
    frames: int
    current: int
    code: int
    locals_count: int
    stack_size: int
    frame_size: int
    text: int


LAYOUTS = {
    (3, 11): Layout(40, 0, 16, 160, 296, 56, 8, 32, 76, 68, 0, 48),
    (3, 12): Layout(40, 0, 72, 144, 232, 56, 0, 0, 0, 0, 76, 40),
    (3, 13): Layout(632, 7264, 7344, 160, 232, 72, -1, 0, 0, 0, 76, 40),
}
_NEXT_THREAD = 8
_DATA = 24
"""Offset of the data in a chunk. The first chunk's first word stays unused."""
_FILE_NAME, _QUALIFIED_NAME = 112, 128
_SPECIAL_WORDS = 9
_LENGTH, _STATE = 16, 32


class Frame(NamedTuple):
    """A function call: path of the source, and qualified name of the function."""

    file: str
    function: str


class Memory:
    """Memory of a process, read in pieces.

    Args:
        file: descriptor of /proc/PID/mem.
    """

    def __init__(self, file: int) -> None:
        self._file = file

    def read(self, address: int, size: int) -> bytes:
        """Return bytes; fewer at the end of readable memory, none where it is unreadable."""
        try:
            return os.pread(self._file, size, address) if 0 < address < 1 << 62 else b""
        except OSError:
            return b""

    def word(self, address: int) -> int:
        """Return an unsigned word, or 0 if unreadable."""
        data = self.read(address, _WORD.size)
        return int(_WORD.unpack(data)[0]) if len(data) == _WORD.size else 0


def python_threads(arguments: Arguments, answer: int) -> None:
    """Answer the functions that threads were started with, unless the program has named them.

    Arguments: pid, start_ticks. Answers: {"damaged": reason}, or {"tid", "name"} for each thread,
    and {} at the end.
    """
    limit_resources(Limits(MEMORY_BYTES, 8, PROGRAM_S))
    folder = open_named_folder(arguments)
    # All must belong to one execution: the addresses of another one could be of its choice.
    auxv, maps, memory, auxv_later = (
        open_file(folder, name) for name in ("auxv", "maps", "mem", "auxv")
    )
    mappings = parse_maps(read_beginning(maps, MAPS_BYTES))
    loaded = opened_interpreters(folder, mappings)
    threads = [thread_of(folder, tid) for tid in thread_ids(folder)[:MAX_THREADS]]
    confine()
    same = read_beginning(auxv, _AUXV_BYTES) == read_beginning(auxv_later, _AUXV_BYTES)
    found = interpreter_of(loaded, Memory(memory)) if same else None
    if found is None:
        say(answer, {"damaged": "its interpreter is none of CPython 3.11 to 3.13, or unknown"})
        return
    runtime, layout = found
    given = next((one.name for one in threads if one.tid == arguments["pid"]), b"")
    unnamed = {
        one.inner: one.tid for one in threads if one.name == given and one.tid != arguments["pid"]
    }
    for inner, frames in start_frames(Memory(memory), runtime, layout):
        name = name_of(frames) if inner in unnamed else ""
        if name:
            say(answer, {"tid": unnamed.pop(inner), "name": name})
    say(answer, {})


class ThreadId(NamedTuple):
    """A thread: its ID, that in its own namespace, and the kernel's name."""

    tid: int
    inner: int
    name: bytes


def thread_of(folder: int, tid: int) -> ThreadId:
    """Return what the kernel says of a thread (proc_pid_status(5))."""
    file = open_file(folder, f"task/{tid}/status")
    lines = read_beginning(file, _STATUS_BYTES).splitlines()
    if file >= 0:
        os.close(file)
    values = {key: value.strip() for key, _, value in (line.partition(b":") for line in lines)}
    ids = values.get(b"NSpid", b"").split()
    return ThreadId(tid, int(ids[-1]) if ids else tid, values.get(b"Name", b""))


def opened_interpreters(folder: int, mappings: list[Mapping]) -> list[tuple[Mapping, int]]:
    """Return first mappings of files that may be CPython, with a descriptor of each file."""
    return [
        (one, open_mapped(folder, one))
        for one in mappings
        if one.offset == 0 and _INTERPRETER.search(one.path)
    ][:2]


def interpreter_of(loaded: list[tuple[Mapping, int]], memory: Memory) -> tuple[int, Layout] | None:
    """Return the address of _PyRuntime and the version's layout, or None if unknown."""
    for mapping, file in loaded:
        try:
            elf = read_elf(file)
            runtime, version = elf.variable("_PyRuntime"), elf.variable("Py_Version")
        except (ElfError, OSError):
            continue
        bias = _bias(elf, mapping)
        if runtime is None or version is None or bias is None or elf.bits != 64:
            continue
        number = memory.word(bias + version.address)
        layout = LAYOUTS.get((number >> 24 & 0xFF, number >> 16 & 0xFF))
        if layout is not None:
            return bias + runtime.address, layout
    return None


def _bias(elf: Elf, mapping: Mapping) -> int | None:
    """Return the distance of addresses in memory from linked ones."""
    first = next((one for one in elf.segments if one.offset == 0), None)
    return None if first is None else mapping.start - first.address // PAGE * PAGE


def start_frames(memory: Memory, runtime: int, layout: Layout) -> Iterator[tuple[int, list[Frame]]]:
    """Yield the ID and the oldest frames of each thread, oldest first.

    Args:
        memory: memory of the process.
        runtime: address of _PyRuntime.
        layout: offsets of the interpreter's version.
    """
    for tid, thread in _thread_states(memory, runtime, layout):
        yield tid, list(_frames(memory, memory.word(thread + layout.chunk), layout))


def current_frames(memory: Memory, runtime: int, layout: Layout) -> Iterator[tuple[int, Frame]]:
    """Yield the ID and the innermost frame of each thread that is in Python code, or called by it.

    Args:
        memory: memory of the process.
        runtime: address of _PyRuntime.
        layout: offsets of the interpreter's version.
    """
    for tid, thread in _thread_states(memory, runtime, layout):
        frame = memory.word(thread + layout.frames)
        if layout.current >= 0:
            frame = memory.word(frame + layout.current)
        found = _frame(memory.read(memory.word(frame + layout.code), _CODE_BYTES), memory, layout)
        if found is not None:
            yield tid, found


def _thread_states(memory: Memory, runtime: int, layout: Layout) -> Iterator[tuple[int, int]]:
    """Yield the ID and the address of each PyThreadState."""
    interpreter = memory.word(runtime + layout.interpreters)
    for _ in range(MAX_INTERPRETERS):
        thread = memory.word(interpreter + layout.threads) if interpreter else 0
        for _ in range(MAX_THREADS):
            if not thread:
                break
            yield memory.word(thread + layout.thread_id), thread
            thread = memory.word(thread + _NEXT_THREAD)
        interpreter = memory.word(interpreter + layout.next_interpreter) if interpreter else 0


def _frames(memory: Memory, chunk: int, layout: Layout) -> Iterator[Frame]:
    """Yield a thread's oldest frames; those that are not whole end it."""
    for _ in range(_MAX_CHUNKS):
        before = memory.word(chunk)
        if not before:
            break
        chunk = before
    stack = memory.read(chunk + _DATA + _WORD.size, _STACK_BYTES)
    place = 0
    for _ in range(_MAX_FRAMES):
        if place + layout.code + _WORD.size > len(stack):
            return
        code = memory.read(_WORD.unpack_from(stack, place + layout.code)[0], _CODE_BYTES)
        frame = _frame(code, memory, layout)
        words = _frame_words(code, layout) if frame else 0
        if frame is None or not 0 < words < _STACK_BYTES:
            return
        yield frame
        place += words * _WORD.size


def _frame(code: bytes, memory: Memory, layout: Layout) -> Frame | None:
    """Return the call of a function by the bytes of its code object, or None if they are none."""
    if len(code) < _CODE_BYTES:
        return None
    file, function = (
        _text(memory, _WORD.unpack_from(code, name)[0], layout)
        for name in (_FILE_NAME, _QUALIFIED_NAME)
    )
    return Frame(file, function) if file and function else None


def _frame_words(code: bytes, layout: Layout) -> int:
    if layout.frame_size:
        return int(_INT.unpack_from(code, layout.frame_size)[0])
    places = (layout.locals_count, layout.stack_size)
    return _SPECIAL_WORDS + sum(int(_INT.unpack_from(code, place)[0]) for place in places)


def _text(memory: Memory, address: int, layout: Layout) -> str:
    """Return a text of ASCII characters, or nothing."""
    head = memory.read(address, layout.text)
    if len(head) < layout.text or head[_STATE] & _COMPACT_ASCII != _COMPACT_ASCII:
        return ""
    length = _WORD.unpack_from(head, _LENGTH)[0]
    return memory.read(address + layout.text, min(length, PAGE)).decode("ascii", "replace")


_WAITS_FOR_WORK = {
    "/threading.py": frozenset(
        {"Condition.wait", "Thread.join", "Thread._wait_for_tstate_lock", "_shutdown"}
    ),
    "/concurrent/futures/thread.py": frozenset({"_worker"}),
    "/multiprocessing/pool.py": frozenset({"worker", "Pool._handle_tasks", "Pool._handle_results"}),
}
"""Functions that wait at a lock until something happens, by the end of their file's path. Those of
pools call C code: queue.SimpleQueue."""


def waits_for_a_lock(frame: Frame) -> bool:
    """True if a thread that waits in C code called by a function wants a lock that another has."""
    waits = (names for file, names in _WAITS_FOR_WORK.items() if frame.file.endswith(file))
    return frame.function not in next(waits, ())


def name_of(frames: list[Frame]) -> str:
    """Return the name of a thread by its oldest frames; empty if its target is not known.

    It is the first function that is none of the module threading: its own name, or the class of a
    method `run` or of a private one. Workers of concurrent.futures have the name of their class,
    those of AnyIO the name that AnyIO gives them.
    """
    target = next((one for one in frames if not one.file.endswith("/threading.py")), None)
    if target is None or _NAME.fullmatch(target.function) is None:
        return ""
    if target.file.endswith("/concurrent/futures/thread.py"):
        return POOL
    if target.file.endswith("/anyio/_backends/_asyncio.py"):
        return ANYIO
    *outer, name = target.function.split(".")
    if (name == "run" or name.startswith("_")) and outer and outer[-1] != "<locals>":
        name = outer[-1]
    return name[:LONGEST]
