"""Status of the process that writes the ring: a record in memory, which the backend reads.

It is no file, as the disk may be full.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

SIZE = 4096
"""Size of the record, in bytes; the rest is blank."""


@dataclass
class RingStatus:
    """Counts since the process began, and gauges.

    Attributes:
        pid: process ID; 0: none runs.
        bytes: bytes on disk.
        parts: parts on disk, open ones included.
        max_bytes: bound on the bytes.
        max_age_s: bound on the age, in seconds.
        frames: frames written.
        lost: frames that never came, or could not be written.
        gaps: gaps in the numbers of frames.
        evicted: parts deleted by a bound.
        evicted_early: parts deleted because the disk was full.
        truncated_bytes: bytes of truncated frames, removed at the start.
        unsealed: failed attempts to seal parts; such parts stay as frames.
        disk_full: 1 while frames cannot be written.
    """

    pid: int = 0
    bytes: int = 0
    parts: int = 0
    max_bytes: int = 0
    max_age_s: float = 0.0
    frames: int = 0
    lost: int = 0
    gaps: int = 0
    evicted: int = 0
    evicted_early: int = 0
    truncated_bytes: int = 0
    unsealed: int = 0
    disk_full: int = 0


def open_status() -> int:
    """Return the descriptor of a new record."""
    return os.memfd_create("tidscope-ring", os.MFD_CLOEXEC)


def write_status(descriptor: int, status: RingStatus) -> None:
    """Replace the record."""
    os.pwrite(descriptor, json.dumps(asdict(status)).encode().ljust(SIZE), 0)


def read_status(descriptor: int | None) -> RingStatus | None:
    """Return the record; None without a ring, or before the first one."""
    if descriptor is None:
        return None
    try:
        found = json.loads(os.pread(descriptor, SIZE, 0) or b"null")
    except (OSError, ValueError):
        return None
    if not isinstance(found, Mapping):
        return None
    known = {one.name for one in fields(RingStatus)}
    return RingStatus(**{name: value for name, value in found.items() if name in known})
