"""Gives up what the collector no longer needs once it is set up, and says what could not be."""

import os
from dataclasses import dataclass

from tidscope_collector.confinement import capabilities, landlock, seccomp
from tidscope_collector.confinement.calls import collector_calls

_NO_LANDLOCK = "Files: any that the user may open (this kernel has no Landlock)."

SETTING_UP = frozenset(capabilities.NAMES)
"""What some feature needs at some time; the rest goes first."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What the collector is going to do.

    Attributes:
        taskstats: samples come from taskstats; else from /proc, where the kernel checks each
            reading of a thread's I/O against the reader.
        steering: it sets the affinity of threads, and connects to agents.
        ebpf: it has programs in the kernel.
        paths: what it opens; or why it cannot be restricted to that.
        unix: its backend is at a Unix socket.
    """

    taskstats: bool
    steering: bool
    ebpf: bool
    paths: landlock.Paths | str
    unix: bool = False


@dataclass(frozen=True, slots=True)
class Confinement:
    """What holds the collector back.

    Attributes:
        granted: capabilities that it had for its set-up.
        kept: those that it has now.
        landlock_abi: 0: none is in effect.
        gaps: what is not in effect, each a sentence with its reason.
        fix: what would close a gap; empty if nothing is known to.
    """

    granted: frozenset[int]
    kept: frozenset[int]
    landlock_abi: int
    gaps: tuple[str, ...]
    fix: str = ""


def kept_capabilities(needs: Needs) -> frozenset[int]:
    """What the collector needs for as long as it runs."""
    kept = {capabilities.SYS_PTRACE, capabilities.DAC_READ_SEARCH}
    if needs.taskstats:
        kept.add(capabilities.NET_ADMIN)
    if needs.steering:
        kept |= {capabilities.SYS_NICE, capabilities.DAC_OVERRIDE}
    return frozenset(kept)


def confine(needs: Needs, granted: frozenset[int]) -> Confinement:
    """Confine this process, for good. Call it while there is one thread.

    Args:
        needs: what it goes on doing.
        granted: capabilities that it had for its set-up.

    Raises:
        OSError: capabilities could not be given up: better not to go on.
    """
    gaps: list[str] = []
    threads = len(os.listdir("/proc/self/task"))
    if threads > 1:
        gaps.append(f"{threads - 1} threads of libraries started before; they keep their rights.")
    abi = 0
    if isinstance(needs.paths, str):
        gaps.append(needs.paths)
    else:
        try:
            landlock.restrict(needs.paths)
            abi = landlock.abi()
        except OSError as error:
            gaps.append(
                f"Files: any that the user may open ({error})." if landlock.abi() else _NO_LANDLOCK
            )
    kept = capabilities.keep(kept_capabilities(needs))
    try:
        seccomp.install(
            collector_calls(
                steering=needs.steering, ebpf=needs.ebpf, unix=needs.steering or needs.unix
            )
        )
    except (OSError, seccomp.UnsupportedProcessorError) as error:
        gaps.append(f"System calls: all ({error}).")
    return Confinement(granted, kept, abi, tuple(gaps), "" if abi else _fix())


def foreseen() -> Confinement:
    """What would confine a collector that this user starts here."""
    held, abi = capabilities.held(), landlock.abi()
    kept = held & kept_capabilities(Needs(taskstats=True, steering=True, ebpf=True, paths=""))
    gaps = () if abi else (_NO_LANDLOCK,)
    return Confinement(held, kept, abi, gaps, "" if abi else _fix())


def _fix() -> str:
    if landlock.abi():
        return ""
    return "Boot Linux 5.13 or newer with CONFIG_SECURITY_LANDLOCK=y and landlock in lsm=."
