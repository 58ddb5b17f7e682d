"""Lists the ring, or cuts and packs a run of it, for a backend elsewhere.

`python -m tidscope_backend.ring.sending list RING FILE` writes the tracks as JSON, and
`… cut TRACK FROM TO NAME ID ARCHIVE` writes the archive of a new run, which is made beside it. Both
load libraries of tables, which the process that answers does not.
"""

import shutil
import sys
from pathlib import Path

from pydantic import TypeAdapter
from tidscope_wire.generated.models import RingTrack

from tidscope_backend.exchange.packing import pack_run
from tidscope_backend.ring.cutting import NothingKeptError, cut_run
from tidscope_backend.ring.listing import ring_tracks
from tidscope_backend.store.folder import RunFolder


def _list(ring: str, file: str) -> None:
    tracks = TypeAdapter(list[RingTrack])
    Path(file).write_bytes(tracks.dump_json(ring_tracks(Path(ring))))


def _cut(track: str, from_us: str, to_us: str, name: str, run_id: str, archive: str) -> None:
    path = Path(archive)
    window = int(from_us), int(to_us)
    cut_run(RunFolder(Path(track)), path.parent, run_id, window, name or None)
    try:
        with path.open("xb") as file:
            file.writelines(pack_run(path.parent / run_id))
    finally:
        shutil.rmtree(path.parent / run_id)


def main() -> int:
    """Do what the command line says."""
    kind, *arguments = sys.argv[1:]
    try:
        if kind == "list":
            _list(*arguments)
        else:
            _cut(*arguments)
    except NothingKeptError as error:
        sys.stderr.write(f"{error}\n")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
