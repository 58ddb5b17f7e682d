"""Counters in a HotSpot virtual machine's file: a question to a limited child.

The file is /tmp/hsperfdata_USER/PID in the machine's own file system; the machine maps it and
updates it in place. `-XX:-UsePerfData` and `-XX:+PerfDisableSharedMem` disable it. Sources:
src/hotspot/share/runtime/perfMemory.hpp (PerfDataPrologue, PerfDataEntry) and
src/hotspot/os/posix/perfMemory_posix.cpp.
"""

import os
import re
import stat
import struct
import time
from collections.abc import Iterator
from typing import NamedTuple

from tidscope_confinement import capabilities
from tidscope_confinement.resources import Limits, limit_resources

from tidscope_collector.confinement.fork_server import confine
from tidscope_collector.inspection.answering import MEMORY_BYTES, Arguments, open_named_folder, say
from tidscope_collector.inspection.virtual_machine import Machine, look_at

FILE_BYTES = 1 << 20
"""Maximum size of the file, in bytes; it normally has 32 KiB."""
MAX_ENTRIES = 4096
MAX_FOLDERS = 1024
"""Maximum folders searched for the user's. In a container the user's name is unknown outside."""
LONGEST_TEXT = 128
COUNTERS = re.compile(
    r"java\.threads\.(live|daemon|livePeak|started)"
    r"|sun\.gc\.collector\.[0-9]\.(invocations|time)"
    r"|sun\.ci\.(threads|totalCompiles|totalBailouts)|java\.ci\.totalTime"
    r"|sun\.rt\.(safepoints|safepointTime|createVmBeginTime)|sun\.os\.hrt\.frequency"
)
TEXTS = re.compile(r"sun\.gc\.collector\.[0-9]\.name|java\.property\.java\.version")
ARGUMENTS = "java.rt.vmArgs"
FLAGS = re.compile(
    r"-XX:ActiveProcessorCount=[0-9]{1,6}"
    r"|-XX:[+-](UseContainerSupport|UseContainerCpuShares|PreferContainerQuotaForCPUCount)"
    r"|-Djdk\.virtualThreadScheduler\.parallelism=[0-9]{1,6}"
    r"|-Djava\.util\.concurrent\.ForkJoinPool\.common\.parallelism=[0-9]{1,6}"
)
"""Arguments of the machine that may be answered; others may be secrets."""
BEGIN = "sun.rt.createVmBeginTime"

_PROLOGUE = struct.Struct("<IBBBBiiqii")
_ENTRY = struct.Struct("<iiiBBBBi")
_MAGIC = 0xC0C0FECA
_LITTLE_ENDIAN = 1
_MAJOR = 2
_LONG, _BYTE = ord("J"), ord("B")
_PREFIX = "hsperfdata_"
_EARLIER_S = 2.0
"""Tolerance between the start times of machine and process, in seconds."""


class Counters(NamedTuple):
    """Requested content of a file.

    Attributes:
        numbers: numbers by name.
        texts: texts by name.
        arguments: arguments of the machine.
    """

    numbers: dict[str, int]
    texts: dict[str, str]
    arguments: str


def parse(data: bytes) -> Counters:
    """Parse a file.

    Raises:
        ValueError: the format is invalid, or the file is not ready; the text says why.
    """
    if len(data) < _PROLOGUE.size:
        raise ValueError("it is too short")
    magic, order, major, _, ready, used, _, _, start, count = _PROLOGUE.unpack_from(data)
    if (magic, order, major) != (_MAGIC, _LITTLE_ENDIAN, _MAJOR):
        raise ValueError("it is not in the format of this kind of machine")
    if ready != 1:
        raise ValueError("the machine is still starting")
    if not (0 <= count <= MAX_ENTRIES and _PROLOGUE.size <= start <= len(data)):
        raise ValueError("its entries are out of bounds")
    numbers: dict[str, int] = {}
    texts: dict[str, str] = {}
    arguments = ""
    for name, kind, value in _entries(data[: min(len(data), start + max(0, used))], start, count):
        if kind == _LONG and COUNTERS.fullmatch(name) and len(value) == 8:
            numbers[name] = int.from_bytes(value, "little", signed=True)
        elif kind == _BYTE and TEXTS.fullmatch(name):
            texts[name] = _text(value)[:LONGEST_TEXT]
        elif kind == _BYTE and name == ARGUMENTS:
            arguments = _text(value)
    return Counters(numbers, texts, arguments)


def _entries(data: bytes, start: int, count: int) -> Iterator[tuple[str, int, bytes]]:
    """Yield name, kind and value of each entry.

    Raises:
        ValueError: an entry is out of bounds.
    """
    for _ in range(count):
        if start + _ENTRY.size > len(data):
            raise ValueError("an entry is out of bounds")
        length, name_at, items, kind, _, _, _, value_at = _ENTRY.unpack_from(data, start)
        if not (_ENTRY.size <= name_at < value_at < length <= len(data) - start and items >= 0):
            raise ValueError("an entry is out of bounds")
        name = data[start + name_at : start + value_at].split(b"\0", 1)[0]
        size = items if items else 8
        if value_at + size > length:
            raise ValueError("a value is out of bounds")
        value = data[start + value_at : start + value_at + size]
        yield name.decode("ascii", "replace"), kind, value
        start += length


def _text(value: bytes) -> str:
    return value.split(b"\0", 1)[0].decode("utf-8", "replace")


def java_counters(arguments: Arguments, answer: int) -> None:
    """Answer the counters of a Java virtual machine at each request.

    Arguments: pid, start_ticks. Answers: to each byte received {"damaged": reason} or {"numbers",
    "texts", "flags"}.
    """
    limit_resources(Limits(MEMORY_BYTES, None, None))
    capabilities.keep(frozenset({capabilities.DAC_READ_SEARCH, capabilities.SYS_PTRACE}))
    why, file = "", -1
    try:
        machine = look_at(arguments["pid"], open_named_folder(arguments))
        file = _open(machine)
        why = "" if file >= 0 else "the machine keeps no file of counters"
    except (OSError, ValueError) as error:
        why = str(error)
    began_s = _start_of(arguments["start_ticks"])
    confine()
    while os.read(answer, 1):
        say(answer, {"damaged": why} if why else _answer(file, began_s))


def _answer(file: int, began_s: float) -> dict[str, object]:
    try:
        found = parse(os.pread(file, FILE_BYTES, 0))
    except (OSError, ValueError) as error:
        return {"damaged": str(error)}
    if found.numbers.get(BEGIN, 0) / 1000 < began_s - _EARLIER_S:
        return {"damaged": "the file is of an earlier process with this id"}
    flags = [word for word in found.arguments.split() if FLAGS.fullmatch(word)]
    return {"numbers": found.numbers, "texts": found.texts, "flags": flags[:64]}


def _start_of(ticks: int) -> float:
    """Return the start time of a process, in seconds of the real-time clock."""
    age_s = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    return time.time() - age_s


def _open(machine: Machine) -> int:
    """Open a machine's file; its user must own file and folder. Return -1 on failure."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    place = os.open("tmp", flags, dir_fd=machine.root)
    with os.scandir(place) as entries:
        names = [one.name for one in entries if one.name.startswith(_PREFIX)][:MAX_FOLDERS]
    for name in names:
        try:
            folder = os.open(name, flags, dir_fd=place)
        except OSError:
            continue
        try:
            if os.fstat(folder).st_uid in machine.uids:
                found = _open_in(folder, str(machine.own_pid), machine.uids)
                if found >= 0:
                    return found
        finally:
            os.close(folder)
    return -1


def _open_in(folder: int, name: str, uids: tuple[int, int]) -> int:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        file = os.open(name, flags, dir_fd=folder)
    except OSError:
        return -1
    known = os.fstat(file)
    if stat.S_ISREG(known.st_mode) and known.st_uid in uids and known.st_nlink == 1:
        return file
    os.close(file)
    return -1
