"""Cuts a run out of a track of the ring: its parts as they are, the first and the last one trimmed.

`python -m tidscope_backend.ring.cutting TRACK RUNS FROM TO ID NAME` does it in a separate process.
"""

import os
import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from tidscope_wire.generated.frame_tables import KEYS
from tidscope_wire.generated.models import FrameHeader, RunEvent, RunManifest, TableName

from tidscope_backend.recording.endings import Ending, end_detail
from tidscope_backend.recording.sealing import write_part, write_summaries
from tidscope_backend.recording.stats import RecordingStats
from tidscope_backend.ring.bounds import Place, part_paths
from tidscope_backend.store.cut_parts import CutPart, RunCutter
from tidscope_backend.store.folder import RunFolder, final_state, replace_file
from tidscope_backend.store.log_parts import LOGS, log_table
from tidscope_backend.store.part_tables import KEY_LEVEL, Part, header_values
from tidscope_backend.store.parts import SealedPart, StoredPart
from tidscope_backend.store.reader import RunReader
from tidscope_backend.store.table_parts import STACK_TABLES, rows_of

CUTTING = "tidscope_backend.ring.cutting"
WORK = ".cut-"
"""Start of the name of a run that is being cut, in the runs directory."""
TRIES = 3
"""Attempts, as the ring may delete a part meanwhile."""
CUT = Ending("flight-recorder", "complete", "It was cut out of the ring.")


class NothingKeptError(LookupError):
    """The ring has no frame of the window; the text says so."""


def cut_run(
    track: RunFolder, runs: Path, run_id: str, window_us: tuple[int, int], name: str | None = None
) -> RunManifest:
    """Make a run of a window of a track.

    Args:
        track: the track.
        runs: the runs directory, on the same disk at best: parts are linked, not copied.
        run_id: ID of the new run.
        window_us: first and last time, Unix microseconds.
        name: name of the run; None for that of the process.

    Raises:
        NothingKeptError: the ring has nothing of the window.
        OSError: the track cannot be read, or the run cannot be written.
        ValueError: the track is damaged.
    """
    work = runs / f"{WORK}{run_id}"
    for left in range(TRIES - 1, -1, -1):
        into = RunFolder(work / run_id)
        try:
            into.make()
            manifest = _cut(track, into, window_us, name)
            into.path.rename(runs / run_id)
        except FileNotFoundError:
            if left == 0:
                raise NothingKeptError("the ring deletes this window just now") from None
        else:
            return manifest
        finally:
            with suppress(OSError):
                shutil.rmtree(work)
    raise AssertionError


def _cut(
    track: RunFolder, into: RunFolder, window_us: tuple[int, int], name: str | None
) -> RunManifest:
    reader = RunReader(track.path)
    chosen = [
        (part, begin, end) for part in reader.parts for begin, end in _within(part, window_us)
    ]
    if not chosen:
        raise NothingKeptError("the ring has no frame of this window")
    cutter, stats = RunCutter(reader), RecordingStats()
    for number, (part, begin, end) in enumerate(chosen, 1):
        whole = begin == 0 and end == len(part.times.seq)
        if whole and isinstance(part, SealedPart):
            _link(Place(track, part.number), into, number)
            if number == 1:
                _without_first_events(into, number, int(part.times.seq[0]))
        else:
            write_part(into, number, _trimmed(cutter, part, begin, end))
        _count(stats, part, reader.manifest, begin, end, first=number == 1)
    manifest = _manifest(reader.manifest, into.path.name, name, stats)
    into.write_manifest(manifest)
    write_summaries(into)
    counts = manifest.counts.model_copy(update={"bytes": into.bytes(), "open_bytes": 0})
    manifest = manifest.model_copy(update={"counts": counts})
    into.write_manifest(manifest)
    return manifest


def _within(part: StoredPart, window_us: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the first and, excluding, last frame of a part within a window, if there is one."""
    unix_us: npt.NDArray[np.int64] = part.signals(["unix_us"])["unix_us"].to_numpy()
    inside = np.flatnonzero((unix_us >= window_us[0]) & (unix_us <= window_us[1]))
    if len(inside):
        # The wall clock may be set, so times need not ascend.
        yield int(inside[0]), int(inside[-1]) + 1


def _link(place: Place, into: RunFolder, number: int) -> None:
    """Give a part's files a second name in another folder; copy them to another disk."""
    for path in part_paths(place):
        relative = path.relative_to(place.folder.path)
        if relative.parts[0] == "open" or (relative.parts[0] == "tables" and not path.exists()):
            continue
        target = (into.path / relative).with_name(f"{number:06d}{path.suffix}")
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(path, target)
        except FileNotFoundError:
            raise
        except OSError:
            shutil.copyfile(path, target)


def _without_first_events(into: RunFolder, number: int, seq: int) -> None:
    """Remove the events of a run's first frame: they precede the run."""
    path = into.events(number)
    lines = path.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if RunEvent.model_validate_json(line).seq != seq]
    if len(kept) < len(lines):
        # The file is the ring's, too: replaced, not changed.
        replace_file(path, b"".join(kept))


def _trimmed(cutter: RunCutter, part: StoredPart, begin: int, end: int) -> Part:
    """Return some frames of a part as one that begins with a key frame."""
    cut = cutter.trimmed(part, begin, end)
    first = int(cut.times.seq[0])
    signals = part.signals().slice(begin, end - begin)
    if begin > 0:
        seq, level = (signals[name].to_numpy().copy() for name in ("first_seq", "level"))
        seq[0], level[0] = first, KEY_LEVEL
        for name, column in (("first_seq", seq), ("level", level)):
            place = signals.column_names.index(name)
            kind = signals.schema.field(name).type
            signals = signals.set_column(place, name, pa.array(column, kind))
    tables = cut.tables()
    for name in STACK_TABLES:
        if part.has_table(name):
            table = part.table(name)
            tables[name] = _log(name, table, cut) if name in LOGS else cut.table(name, table)
    return Part(
        _sorted(cut.samples(), ("tid", "start_ns")),
        signals,
        cut.events(),
        {
            name: table if name in LOGS else _sorted(table, KEYS[name])
            for name, table in tables.items()
            if len(table)
        },
        len(cut.samples(0, ["seq"])),
    )


def _log(name: TableName, table: pa.Table, cut: CutPart) -> pa.Table:
    """Return a log's rows up to the last frame; those of earlier frames are moved to the first."""
    first_ns, first, last = int(cut.times.time_ns[0]), int(cut.times.seq[0]), cut.last_seq
    kept = table.filter(pc.field("seq") <= last)
    seq = np.maximum(kept["seq"].to_numpy(), first)
    return log_table(name, rows_of(name, kept), seq, first_ns)


def _sorted(table: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Return rows in the order of docs/runs.md."""
    order = [("level", "descending"), *((key, "ascending") for key in (*keys, "seq"))]
    return table.sort_by(order)


def _count(
    stats: RecordingStats,
    part: StoredPart,
    manifest: RunManifest,
    begin: int,
    end: int,
    *,
    first: bool,
) -> None:
    """Count frames of a part as a recording of the window would have."""
    events: dict[int, list[Any]] = defaultdict(list)
    for one in part.events():
        events[one.seq].append(one.event)
    rows = _rows_by_frame(part)
    for place, row in enumerate(part.signals().slice(begin, end - begin).to_pylist()):
        values = {
            **header_values(row),
            **{"type": "frame", "target": manifest.target.id, "kind": "delta", "baseline": False},
            "rows": rows.get(row["seq"], 0),
            "events": events.get(row["seq"], []),
        }
        if place == 0 and first:
            values |= {"first_seq": row["seq"], "events": []}
        stats.add_frame(FrameHeader.model_validate(values))


def _rows_by_frame(part: StoredPart) -> dict[int, int]:
    seq, count = np.unique(part.samples(0, ["seq"])["seq"].to_numpy(), return_counts=True)
    return dict(zip(seq.tolist(), count.tolist(), strict=True))


def _manifest(
    track: RunManifest, run_id: str, name: str | None, stats: RecordingStats
) -> RunManifest:
    first, last = stats.first, stats.last
    if first is None or last is None:
        raise NothingKeptError("the ring has no frame of this window")
    return track.model_copy(
        update={
            "id": run_id,
            "name": name or track.name,
            "state": final_state(CUT.state, stats.losses),
            "end": CUT.end,
            "end_detail": end_detail(CUT, stats),
            "created_unix_us": time.time_ns() // 1000,
            "started_unix_us": first.unix_us,
            "from_ns": first.time_ns,
            "to_ns": last.time_ns,
            "policies": list(stats.policies),
            "counters_from": list(stats.counters_from),
            "losses": stats.losses,
            "counts": stats.counts,
        }
    )


def main() -> int:
    """Cut the run that the command line names."""
    track, runs, from_us, to_us, run_id, name = sys.argv[1:]
    try:
        cut_run(
            RunFolder(Path(track)), Path(runs), run_id, (int(from_us), int(to_us)), name or None
        )
    except NothingKeptError as error:
        sys.stderr.write(f"{error}\n")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
