"""What the rings of io_uring of a process have done, as the kernel shows it.

Counts are those of /proc/PID/fdinfo (io_uring/fdinfo.c): `CachedSqHead` is how many entries the
kernel has taken from the submission queue, `CachedCqTail` how many completions it has made. Both
are 32 bits wide and begin again at 0. A ring that has two descriptors counts twice.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
LINK = "anon_inode:[io_uring]"
SUBMITTED, COMPLETED = "CachedSqHead", "CachedCqTail"
WRAP = 1 << 32
RING_COUNTS = ("ring_submissions", "ring_completions")


@dataclass(frozen=True)
class Ring:
    """Entries that were submitted to a ring, and completions that it has made; modulo 2³²."""

    submitted: int
    completed: int


def read_rings(pid: int, proc: Path = PROC) -> dict[str, Ring]:
    """Rings of a process by their descriptor; those that cannot be read are left out."""
    found = {}
    try:
        descriptors = list(os.scandir(proc / str(pid) / "fd"))
    except OSError:
        return {}
    for one in descriptors:
        try:
            if str(Path(one.path).readlink()) == LINK:
                text = (proc / str(pid) / "fdinfo" / one.name).read_text()
                found[one.name] = parse_ring(text)
        except (OSError, KeyError, ValueError):
            continue
    return found


def parse_ring(text: str) -> Ring:
    """The counts of a ring. Raises KeyError or ValueError: they are not in the text."""
    fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    return Ring(int(fields[SUBMITTED]), int(fields[COMPLETED]))


def ring_counts(before: Mapping[str, Ring], after: Mapping[str, Ring]) -> dict[str, float]:
    """Rings, and submissions and completions between two readings; empty: there are no rings."""
    if not after:
        return {}
    new = Ring(0, 0)
    grown = [(one, before.get(name, new)) for name, one in after.items()]
    return {
        "rings": float(len(after)),
        "ring_submissions": float(sum((a.submitted - b.submitted) % WRAP for a, b in grown)),
        "ring_completions": float(sum((a.completed - b.completed) % WRAP for a, b in grown)),
    }
