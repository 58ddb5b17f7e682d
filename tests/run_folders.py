"""Folders of runs that were never recorded, and reading the folder of a run."""

import asyncio
import itertools
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import run_builders
from backend_builders import target
from tidscope_backend.recording.sealing import seal_part
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.frame_files import pack_frame, whole_frames
from tidscope_backend.store.reader import RunReader
from tidscope_wire.frame import split
from tidscope_wire.generated.models import Group, RunManifest

DEEP = bool(os.environ.get("TIDSCOPE_DEEP_TESTS"))
"""True in `make test-deep`: replays are checked on every state of a run's folder."""

GROUP = Group(
    kind="tree",
    value=None,
    name="make -j4 and its descendants",
    cgroup=None,
    discovery="ebpf",
    discovery_reason="the kernel reports each fork, exec and exit",
)


def manifest(fields: Sequence[str], frames: Sequence[bytes]) -> RunManifest:
    """Content of manifest.json."""
    first, last = split(frames[0])[0], split(frames[-1])[0]
    group = None if first.group is None else GROUP
    return run_builders.manifest(
        target=target(first.target).model_copy(update={"fields": list(fields), "group": group}),
        started_unix_us=first.unix_us,
        from_ns=first.time_ns,
        to_ns=last.time_ns,
    )


def run_folder(
    path: Path, parts: Sequence[Sequence[bytes]], fields: Sequence[str], closed: int
) -> RunFolder:
    """Write a run.

    Args:
        path: a folder that is not there yet.
        parts: frames of each part.
        fields: fields of the target.
        closed: number of closed parts.
    """
    folder = RunFolder(path)
    folder.make()
    folder.write_manifest(manifest(fields, [frame for part in parts for frame in part]))
    for number, frames in enumerate(parts, 1):
        folder.open_part(number).write_bytes(b"".join(map(pack_frame, frames)))
    for number in range(1, closed + 1):
        seal_part(folder, number)
    return folder


POLL_SECONDS = 0.05


def frames_of(folder: RunFolder) -> list[bytes]:
    """All frames of the open parts, in order."""
    return [
        frame
        for part in folder.open_parts()
        for frame in whole_frames(folder.open_part(part).read_bytes())
    ]


def open_seqs(folder: RunFolder) -> list[tuple[int, int]]:
    """First and last number of each frame of the open parts."""
    headers = [split(frame)[0] for frame in frames_of(folder)]
    return [(header.first_seq, header.seq) for header in headers]


def seqs(folder: RunFolder) -> list[tuple[int, int]]:
    """First and last number of each instant, of open and sealed parts."""
    table = RunReader(folder.path).signals(["first_seq", "seq"])
    return list(zip(table["first_seq"].to_pylist(), table["seq"].to_pylist(), strict=True))


def singles(first: int, last: int) -> list[tuple[int, int]]:
    """Result of `seqs` for frames that are not coalesced."""
    return [(seq, seq) for seq in range(first, last + 1)]


async def until(there: Callable[[], bool]) -> None:
    """Wait for something on the disk; the test's own timeout is the bound."""
    for _ in itertools.count():
        if there():
            return
        await asyncio.sleep(POLL_SECONDS)
