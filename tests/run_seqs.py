"""Reading the folder of a run."""

import asyncio
import itertools
from collections.abc import Callable

from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.part_files import whole_frames
from tidscope_backend.store.reader import RunReader
from tidscope_wire.frame import split

LOOK_SECONDS = 0.05


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
    """What `seqs` gives of frames that stand each for itself."""
    return [(seq, seq) for seq in range(first, last + 1)]


async def until(there: Callable[[], bool]) -> None:
    """Wait for something on the disk; the test's own timeout is the bound."""
    for _ in itertools.count():
        if there():
            return
        await asyncio.sleep(LOOK_SECONDS)
