"""Which language runtime a process runs on, as far as it is visible from outside."""

import os
import re
from dataclasses import dataclass
from typing import TypeVar

from tidscope_wire.generated.models import Runtime

from tidscope_collector.goruntime.buildinfo import is_go, read_build_info
from tidscope_collector.goruntime.elf import ElfError, read_elf
from tidscope_collector.procfs.files import ProcFs

_PYTHON = re.compile(r"(?:python|pypy)[\d.]*t?$")
_NAMES: dict[str, Runtime] = {"java": "java", "node": "node", "nodejs": "node"}
_LIBRARIES: tuple[tuple[bytes, Runtime], ...] = (
    (b"/libjvm.so", "java"),
    (b"/libpython", "python"),
    (b"/libnode.so", "node"),
)
Key = TypeVar("Key")
_MAPS_BYTES = 1 << 18
_MOST_CACHED = 4096


@dataclass(frozen=True, slots=True)
class DetectedRuntime:
    """A runtime and its version, such as go1.26.8 or python3.11; None if unknown."""

    runtime: Runtime
    version: str | None


UNKNOWN = DetectedRuntime("unknown", None)


class RuntimeDetector:
    """Tells runtimes; what an executable is, is remembered by device, inode and change time."""

    def __init__(self, procfs: ProcFs) -> None:
        self._procfs = procfs
        self._by_executable: dict[tuple[int, int, int], DetectedRuntime] = {}
        self._embedding: dict[tuple[int, int, tuple[int, int, int]], DetectedRuntime] = {}

    def detect(self, pid: int, start_ticks: int, executable: str | None) -> DetectedRuntime:
        """Look at a process, once.

        Args:
            pid: the process.
            start_ticks: its start, for remembering it.
            executable: what /proc/PID/exe points to; None if it may not be read.
        """
        if executable is None:
            return UNKNOWN
        try:
            status = (self._procfs.root / f"{pid}/exe").stat()
        except OSError:
            return UNKNOWN
        key = (status.st_dev, status.st_ino, status.st_mtime_ns)
        found = self._by_executable.get(key)
        if found is None:
            found = self._of_executable(pid, executable)
            _remember(self._by_executable, key, found)
        if found.runtime != "native":
            return found
        # A program may embed a runtime as a library. An exec changes the executable in the key.
        process = (pid, start_ticks, key)
        embedded = self._embedding.get(process)
        if embedded is None:
            embedded = self._of_libraries(pid) or found
            _remember(self._embedding, process, embedded)
        return embedded

    def _of_executable(self, pid: int, executable: str) -> DetectedRuntime:
        name = executable.removesuffix(" (deleted)").rpartition("/")[2]
        if _PYTHON.match(name):
            return DetectedRuntime("python", name if name[-1].isdigit() else None)
        if name in _NAMES:
            return DetectedRuntime(_NAMES[name], None)
        try:
            file = os.open(self._procfs.path(f"{pid}/exe"), os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return UNKNOWN
        try:
            elf = read_elf(file)
            if is_go(elf):
                info = read_build_info(elf)
                return DetectedRuntime("go", info.version if info else None)
        except (ElfError, OSError):
            pass
        finally:
            os.close(file)
        return DetectedRuntime("native", None)

    def _of_libraries(self, pid: int) -> DetectedRuntime | None:
        try:
            maps = self._procfs.read(f"{pid}/maps", _MAPS_BYTES)
        except OSError:
            return None
        return next(
            (DetectedRuntime(name, None) for library, name in _LIBRARIES if library in maps), None
        )


def _remember(cache: dict[Key, DetectedRuntime], key: Key, value: DetectedRuntime) -> None:
    if len(cache) >= _MOST_CACHED:
        cache.pop(next(iter(cache)))
    cache[key] = value
