"""The track of one target in the ring: a run folder whose oldest parts are deleted."""

import time
from pathlib import Path

from tidscope_wire.envelope import FrameError, split
from tidscope_wire.generated.limits import RUN_PART_SECONDS
from tidscope_wire.generated.models import FrameHeader, Host, Target

from tidscope_backend.recording.manifests import new_manifest
from tidscope_backend.store.folder import RunFolder, RunLock, new_run_id
from tidscope_backend.store.frame_files import PartFile, cut_truncated, whole_frames

PART_NS = RUN_PART_SECONDS * 1_000_000_000
PART_BYTES = 32 * 1024 * 1024
"""Size after which the next key frame starts a new part, in bytes; bounds memory of sealing."""


class Track:
    """Appends the frames of one target, in order.

    Args:
        folder: the run folder; it exists.
        lock: lock on the folder.
        target: the target.
        host: its host.

    Attributes:
        last_seq: number of the newest frame; 0 without one.
        number: number of the open part; 0 without one.
        truncated: bytes of a truncated frame that were removed at the start.
    """

    def __init__(self, folder: RunFolder, lock: RunLock, target: Target, host: Host) -> None:
        self.folder, self.target, self.host = folder, target, host
        self.last_seq = self.number = self.truncated = 0
        self._lock = lock
        self._part: PartFile | None = None
        self._began_ns = 0

    @classmethod
    def create(cls, ring: Path, target: Target, host: Host) -> "Track":
        """Make the track of a new target. Raises OSError."""
        unix_us = time.time_ns() // 1000
        folder = RunFolder(ring / new_run_id(unix_us / 1e6))
        folder.make()
        lock = RunLock.acquire(folder)
        if lock is None:
            raise FileExistsError(f"another process has {folder.path.name}")
        made = cls(folder, lock, target, host)
        made.write_manifest()
        return made

    @classmethod
    def resume(cls, folder: RunFolder) -> "Track | None":
        """Continue a track of an earlier process; None if another one has it.

        Raises:
            OSError: the files cannot be read.
            ValueError: the manifest is invalid.
        """
        manifest = folder.read_manifest()
        lock = RunLock.acquire(folder)
        if lock is None:
            return None
        found = cls(folder, lock, manifest.target, manifest.host)
        numbers = folder.open_parts()
        found.number = max((*numbers, *folder.sealed_parts()), default=0)
        if numbers and numbers[-1] == found.number:
            path = folder.open_part(found.number)
            found.truncated = cut_truncated(path)
            headers = list(_ends(path))
            if headers:
                found._began_ns, found.last_seq = headers[0].time_ns, headers[-1].seq
            found._part = PartFile(path)
        return found

    @property
    def open_bytes(self) -> int:
        """Bytes of the open part."""
        return 0 if self._part is None else self._part.bytes

    def write_manifest(self) -> None:
        """Write what describes the target. Raises OSError."""
        run_id = self.folder.path.name
        name, unix_us = self.target.process.name, self.target.attached_unix_us
        self.folder.write_manifest(new_manifest(run_id, name, unix_us, self.host, self.target))

    def append(self, header: FrameHeader, data: bytes) -> int | None:
        """Append a frame.

        Returns:
            Number of the part that it filled, to be sealed; None if the open part goes on.

        Raises:
            OSError: the frame cannot be written; the part is unchanged.
        """
        part, full = self._part, None
        if part is None or (header.kind == "key" and self._is_full(part, header.time_ns)):
            fresh = PartFile(self.folder.open_part(self.number + 1))
            try:
                fresh.append(data)
            except OSError:
                fresh.close()
                self.folder.open_part(self.number + 1).unlink(missing_ok=True)
                raise
            full = self.close_part()
            self._part, self._began_ns = fresh, header.time_ns
            self.number += 1
        else:
            part.append(data)
        self.last_seq = header.seq
        return full

    def needs_key(self) -> bool:
        """Return True if the next frame has to be a key frame."""
        return self._part is None or self._part.bytes == 0

    def close_part(self) -> int | None:
        """Close the open part. Return its number, or None without one; an empty one is removed."""
        part, self._part = self._part, None
        if part is None:
            return None
        empty = part.bytes == 0
        part.close()
        if empty:
            self.folder.open_part(self.number).unlink(missing_ok=True)
        return None if empty else self.number

    def release(self) -> None:
        """Release the lock; the open part stays for the next process."""
        if self._part is not None:
            self._part.close()
            self._part = None
        self._lock.release()

    def _is_full(self, part: PartFile, time_ns: int) -> bool:
        old = time_ns - self._began_ns >= PART_NS
        return part.bytes > 0 and (old or part.bytes >= PART_BYTES)


def _ends(path: Path) -> list[FrameHeader]:
    """Return the headers of the first and the last frame of a part."""
    frames = list(whole_frames(path.read_bytes()))
    found = []
    for frame in frames[:1] + frames[-1:]:
        try:
            found.append(split(frame)[0])
        except FrameError:
            continue
    return found
