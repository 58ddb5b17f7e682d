"""Whole runs on the disk, made of frames whose numbers can be checked."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import compared_runs
from backend_builders import frame_bytes, target
from compared_runs import decided
from tidscope_backend.recording.sealing import seal_part
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.frame_files import pack_frame
from tidscope_backend.store.part_files import write_table
from tidscope_backend.store.parts import parts_of
from tidscope_backend.store.threads_table import threads_table
from tidscope_wire.generated.models import RunManifest, TargetEvent, ThreadBorn, ThreadExited

FIELDS = ("cpu_run_ns", "cpu_delay_ns")
MS = 1_000_000
START = 5_000_000_000
"""First instant, nanoseconds since attach."""
FRAMES = 25
"""A frame each tenth of a second; a part of 10, one of 10, and one that is open of 5."""


def script(seq: int) -> bytes:
    """A frame of a program with two threads from the start and one that lives for a while.

    main (100) is on a CPU for half of the time; worker-1 (101) runs only between frames 15 and 16;
    worker-2 (102) is born at frame 4, works all the time and ends at frame 8.
    """
    rows: dict[int, list[int | None]] = {100: [seq * 50 * MS, seq * 10 * MS]}
    key = seq % 10 == 1
    if key or seq == 16:
        rows[101] = [7 * MS if seq < 16 else 87 * MS, None]
    if 4 <= seq < 8:
        rows[102] = [(seq - 3) * 100 * MS, 0]
    events: list[TargetEvent] = []
    if seq == 4:
        events.append(ThreadBorn(tid=102, start_ns=time_ns(3), name="worker-2"))
    if seq == 8:
        totals = {"cpu_run_ns": 450 * MS, "cpu_delay_ns": 1}
        events.append(
            ThreadExited(
                tid=102,
                start_ns=time_ns(3),
                name="worker-2",
                totals=totals,
                exact=True,
                seen_alive=True,
            )
        )
    if seq == 12:
        events.append(decided(time_ns(12) / 1e9, 50).event)
    names = {100: (-1000, "main"), 101: (-900, "worker-1"), 102: (time_ns(3), "worker-2")}
    return frame_bytes(
        seq,
        rows,
        identity={tid: names[tid] for tid in rows} if key else None,
        events=events,
        time_ns=time_ns(seq),
        fields=FIELDS,
    )


def time_ns(seq: int) -> int:
    """Time of a frame."""
    return START + (seq - 1) * 100 * MS


def write_run(
    runs: Path, number: int = 1, *, ended: bool = True, frames: int = FRAMES, **changes: Any
) -> RunManifest:
    """Write a run; one that has ended is closed, the other has its last part open."""
    values: dict[str, Any] = {
        "target": target().model_copy(update={"fields": list(FIELDS)}),
        "from_ns": time_ns(1),
        "to_ns": time_ns(frames),
        "state": "complete" if ended else "recording",
        "end": "stopped" if ended else None,
    }
    manifest = compared_runs.manifest(number, **{**values, **changes})
    folder = RunFolder(runs / manifest.id)
    folder.make()
    folder.write_manifest(manifest)
    parts = [list(range(at, min(at + 10, frames + 1))) for at in range(1, frames + 1, 10)]
    for part, seqs in enumerate(parts, 1):
        append(folder, part, seqs)
        if ended or part < len(parts):
            seal_part(folder, part)
    if ended:
        write_table(folder.threads, threads_table(parts_of(folder, FIELDS), FIELDS))
    return manifest


def append(folder: RunFolder, part: int, seqs: Sequence[int]) -> None:
    """Write frames of an open part."""
    with folder.open_part(part).open("ab") as file:
        for seq in seqs:
            file.write(pack_frame(script(seq)))
