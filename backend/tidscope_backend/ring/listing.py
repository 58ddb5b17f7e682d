"""Lists of the ring: its tracks by target."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from tidscope_wire.generated.models import RingCut, RingResponse, RingTrack, RunManifest
from tidscope_wire.problems import refusal

from tidscope_backend.ring.bounds import Place, part_paths, tracks_in
from tidscope_backend.ring.status import RingStatus
from tidscope_backend.store.folder import RunFolder

FOLDER = ".ring"
"""Name of the ring's folder in the runs directory."""


class TrackNotFoundError(LookupError):
    """No track, or several, match; the text is the reason."""


def ring_tracks(ring: Path) -> list[RingTrack]:
    """Return the tracks with frames, newest first; unreadable ones are omitted."""
    found = []
    for folder in tracks_in(ring):
        try:
            manifest = folder.read_manifest()
        except (OSError, ValueError):
            continue
        track = _track(folder, manifest)
        if track is not None:
            found.append(track)
    return sorted(found, key=lambda one: -one.to_unix_us)


def find_track(ring: Path, called: str) -> RingTrack:
    """Find a track by its ID, its target, its process ID, or the name of its process.

    The newest counts if an earlier attachment to the same process matches, too.

    Raises:
        TrackNotFoundError: none or several match.
    """
    tracks = ring_tracks(ring)
    exact = [one for one in tracks if called in (one.id, one.target.id)]
    named = [
        one
        for one in tracks
        if called in (str(one.target.process.pid), one.target.process.name)
        or (one.target.group is not None and called == one.target.group.name)
    ]
    matching = exact or named
    processes = {(one.target.process.pid, one.target.process.start_ticks) for one in matching}
    if not matching:
        raise TrackNotFoundError(
            f"the ring has no target {called!r}; `tidscope runs kept` lists all"
        )
    if len(processes) > 1:
        ids = ", ".join(one.id for one in matching)
        raise TrackNotFoundError(f"several targets of the ring are called {called!r}: {ids}")
    return matching[0]


def ring_response(status: RingStatus | None, tracks: list[RingTrack]) -> RingResponse:
    """Describe a ring.

    Args:
        status: the record of the ring's process; None without one.
        tracks: its tracks.
    """
    return RingResponse(
        on=status is not None and status.pid > 0,
        max_age_s=None if status is None else status.max_age_s,
        max_bytes=None if status is None else status.max_bytes,
        bytes=sum(one.bytes for one in tracks),
        lost=0 if status is None else status.lost,
        disk_full=status is not None and status.disk_full > 0,
        tracks=tracks,
    )


def track_of_cut(tracks: Sequence[RingTrack], cut: RingCut) -> RingTrack:
    """Return the track of a cut.

    Raises:
        ProblemError: the ring does not have it, or nothing of its window.
    """
    track = next((one for one in tracks if one.id == cut.track), None)
    if track is None:
        raise refusal(
            "unknown-target", f"the ring has no track {cut.track}", "choose one that it lists"
        )
    if cut.to_unix_us < track.from_unix_us or cut.from_unix_us > track.to_unix_us:
        raise refusal(
            "bad-request", "the ring has no frame of this window", "choose one that it lists"
        )
    return track


def _track(folder: RunFolder, manifest: RunManifest) -> RingTrack | None:
    opened, sealed = folder.open_parts(), folder.sealed_parts()
    numbers = sorted({*opened, *sealed})
    if not numbers:
        return None
    spans = [_first_us(folder, numbers[0], opened), _last_us(folder, numbers[-1], opened)]
    if None in spans:
        return None
    return RingTrack(
        id=folder.path.name,
        target=manifest.target,
        host_name=manifest.host.name,
        from_unix_us=spans[0] or 0,
        to_unix_us=spans[1] or 0,
        bytes=sum(_sizes(folder, numbers)),
    )


def _first_us(folder: RunFolder, number: int, opened: list[int]) -> int | None:
    return next(_times_us(folder, number, opened, first=True), None)


def _last_us(folder: RunFolder, number: int, opened: list[int]) -> int | None:
    return next(_times_us(folder, number, opened, first=False), None)


def _times_us(folder: RunFolder, number: int, opened: list[int], *, first: bool) -> Iterator[int]:
    """Yield the time of the first or last frame of a part, if it is readable."""
    from tidscope_wire.envelope import FrameError, split

    from tidscope_backend.store.frame_files import whole_frames

    try:
        if number in opened:
            frames = list(whole_frames(folder.open_part(number).read_bytes()))
            if frames:
                yield split(frames[0 if first else -1])[0].unix_us
        else:
            import pyarrow.parquet as pq

            column = pq.read_table(folder.signals(number), columns=["unix_us"])["unix_us"]
            yield column[0 if first else len(column) - 1].as_py()
    except (OSError, ValueError, FrameError):
        return


def _sizes(folder: RunFolder, numbers: list[int]) -> Iterator[int]:
    for number in numbers:
        for path in part_paths(Place(folder, number)):
            try:
                yield path.stat().st_size
            except OSError:
                continue
