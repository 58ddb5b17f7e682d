"""Which language runtime a process runs on, as far as it is visible from outside. Pure."""

import re
from typing import NamedTuple

from tidscope_collector.goruntime.buildinfo import is_go, read_build_info
from tidscope_collector.goruntime.elf import ElfError, read_elf

MAPS_BYTES = 1 << 18

_PYTHON = re.compile(r"(?:python|pypy)[\d.]*t?$")
_NAMES = {"java": "java", "node": "node", "nodejs": "node"}
_LIBRARIES = ((b"/libjvm.so", "java"), (b"/libpython", "python"), (b"/libnode.so", "node"))


class FoundRuntime(NamedTuple):
    """A runtime and its version, such as go1.26.8 or python3.11; None if unknown."""

    runtime: str
    version: str | None


NATIVE = FoundRuntime("native", None)


def runtime_of_executable(executable: str, file: int) -> FoundRuntime:
    """Tell the runtime by the name of an executable, and by what the Go linker writes into it.

    Args:
        executable: what /proc/PID/exe points to.
        file: descriptor of it.

    Raises:
        OSError: it cannot be read.
    """
    name = executable.removesuffix(" (deleted)").rpartition("/")[2]
    if _PYTHON.match(name):
        return FoundRuntime("python", name if name[-1].isdigit() else None)
    if name in _NAMES:
        return FoundRuntime(_NAMES[name], None)
    try:
        elf = read_elf(file)
        if is_go(elf):
            info = read_build_info(elf)
            return FoundRuntime("go", info.version if info else None)
    except ElfError:
        pass
    return NATIVE


def embedded_runtime(maps: bytes) -> FoundRuntime:
    """Tell the runtime that a program has loaded as a library, from the start of /proc/PID/maps."""
    return next(
        (FoundRuntime(name, None) for library, name in _LIBRARIES if library in maps), NATIVE
    )
