"""Parts of the ring on disk, and which of them have to go."""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tidscope_backend.store.folder import RUN_ID, RunFolder


class Place(NamedTuple):
    """A part of a track."""

    folder: RunFolder
    number: int


@dataclass
class Stored:
    """A part on disk.

    Attributes:
        bytes: bytes of its files.
        unix_s: time of its last frame.
        sealed: False while it is stored as frames.
    """

    bytes: int
    unix_s: float
    sealed: bool


def tracks_in(ring: Path) -> list[RunFolder]:
    """Return the folders of tracks, oldest first."""
    try:
        names = [one.name for one in ring.iterdir()]
    except OSError:
        return []
    return [RunFolder(ring / name) for name in sorted(names) if RUN_ID.match(name)]


def part_paths(place: Place) -> Iterator[Path]:
    """Yield the files of a part; what makes readers see it comes first."""
    folder, number = place
    yield folder.open_part(number)
    yield folder.signals(number)
    yield folder.samples(number)
    yield folder.events(number)
    yield from folder.tables(number).values()


def stored(place: Place) -> Stored | None:
    """Look at the files of a part; None if it is gone."""
    size, newest = 0, 0.0
    for path in part_paths(place):
        with suppress(FileNotFoundError):
            found = path.stat()
            size += found.st_size
            newest = max(newest, found.st_mtime)
    if not size:
        return None
    return Stored(size, newest, not place.folder.open_part(place.number).exists())


def remove_part(place: Place) -> None:
    """Delete the files of a part."""
    for path in part_paths(place):
        path.unlink(missing_ok=True)


def remove_track(folder: RunFolder) -> None:
    """Delete a track without parts."""
    shutil.rmtree(folder.path, ignore_errors=True)


def to_evict(
    parts: dict[Place, Stored], open_bytes: int, max_bytes: int, since_unix_s: float
) -> list[Place]:
    """Choose the parts to delete, oldest first. Pure.

    Args:
        parts: all parts that are not open.
        open_bytes: bytes of the open parts, which stay.
        max_bytes: bound on all bytes.
        since_unix_s: parts that end before are too old.
    """
    left = open_bytes + sum(one.bytes for one in parts.values())
    gone = []
    for place, one in sorted(parts.items(), key=lambda item: item[1].unix_s):
        if left <= max_bytes and one.unix_s >= since_unix_s:
            break
        gone.append(place)
        left -= one.bytes
    return gone
