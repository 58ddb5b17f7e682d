"""Seals a part of a run: turns its frames into Parquet and JSON lines. A program of its own.

Running `python -m tidscope_backend.recording.sealing FOLDER PART` in a process of its own keeps
the work, its memory and any crash out of the backend. Without PART it writes the overview and the
thread table of a run that has ended.
"""

import sys
from pathlib import Path

import pyarrow as pa

from tidscope_backend.store.folder import RunFolder, replace_file, sync_folder
from tidscope_backend.store.open_part import whole_frames, write_levels, write_table
from tidscope_backend.store.overview import write_overview
from tidscope_backend.store.part_tables import Part, part_of
from tidscope_backend.store.reader import RunReader

MIN_OVERVIEW_FRAMES = 75
"""A run with fewer frames is always shown with each of them."""


def seal_part(folder: RunFolder, part: int) -> None:
    """Write a part's files and delete its frames. Done again, it writes the same.

    Raises:
        OSError: it cannot be read or written; its frames are still there.
        tidscope_wire.frame.FrameError: it holds something that is not a frame.
    """
    fields = folder.read_manifest().target.fields
    write_part(folder, part, part_of(whole_frames(folder.open_part(part).read_bytes()), fields))
    folder.open_part(part).unlink()


def write_part(folder: RunFolder, number: int, part: Part) -> None:
    """Write the files of a part; they are on the disk when this returns. Raises OSError."""
    _write_levels(folder.samples(number), part.samples)
    for name, table in part.tables.items():
        folder.table(name, number).parent.mkdir(parents=True, exist_ok=True)
        _write_levels(folder.table(name, number), table)
    lines = "".join(event.model_dump_json() + "\n" for event in part.events)
    replace_file(folder.events(number), lines.encode())
    new = folder.signals(number).with_suffix(".new")
    write_table(new, part.signals)
    new.replace(folder.signals(number))
    for path in (*folder.tables(number).values(), folder.samples(number), folder.signals(number)):
        sync_folder(path.parent)
    if part.tables:
        sync_folder(folder.path / "tables")
        sync_folder(folder.path)


def _write_levels(path: Path, rows: pa.Table) -> None:
    new = path.with_suffix(".new")
    write_levels(new, rows)
    new.replace(path)


def write_summaries(folder: RunFolder) -> None:
    """Write the overview and the thread table of a run that has ended. Raises as `seal_part`.

    The thread table comes last: where it is, both are.
    """
    reader = RunReader(folder.path)
    threads = reader.threads()
    if sum(len(part.times.seq) for part in reader.parts) >= MIN_OVERVIEW_FRAMES:
        write_overview(folder, reader.parts, reader.fields, threads)
    new = folder.threads.with_suffix(".new")
    write_table(new, threads)
    new.replace(folder.threads)
    sync_folder(folder.path)


def main() -> int:
    """Close the part that the command line names, or what is made of all parts."""
    path, *parts = sys.argv[1:]
    folder = RunFolder(Path(path))
    for part in parts:
        seal_part(folder, int(part))
    if not parts:
        write_summaries(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
