"""A small file system in a file, whose disk can be full, slow or silent."""

import fcntl
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FREEZE, THAW = 0xC0045877, 0xC0045878
"""FIFREEZE and FITHAW of linux/fs.h."""
SLOW_S, ANSWERS_S = 0.9, 0.1
"""A slow disk answers for a tenth of each second."""
BLOCK_BYTES = 4096


class Disk:
    """A mounted file system.

    Args:
        place: where it is mounted.
    """

    def __init__(self, place: Path) -> None:
        self.place = place
        self._filler = place / "filler"
        self._end = threading.Event()
        self._slowing: threading.Thread | None = None

    def fill(self) -> None:
        """Leave no block, nor room at the end of a log's last one."""
        for log in self.place.rglob("*.log"):
            with log.open("ab") as file:
                file.write(b"\n" * (-log.stat().st_size % BLOCK_BYTES))
        with self._filler.open("wb", buffering=0) as file:
            size = os.statvfs(self.place)
            with suppress(OSError):
                os.posix_fallocate(file.fileno(), 0, size.f_bavail * size.f_frsize)
            with suppress(OSError):
                while True:
                    os.write(file.fileno(), bytes(BLOCK_BYTES))

    def empty(self) -> None:
        """Free what `fill` took."""
        self._filler.unlink(missing_ok=True)

    def slow(self) -> None:
        """Let writes wait for nine tenths of each second, until `fast` is called."""
        self._end.clear()
        self._slowing = threading.Thread(target=self._freeze_and_thaw, daemon=True)
        self._slowing.start()

    def fast(self) -> None:
        """End what `slow` began."""
        self._end.set()
        if self._slowing is not None:
            self._slowing.join()
            self._slowing = None

    def _freeze_and_thaw(self) -> None:
        descriptor = os.open(self.place, os.O_RDONLY | os.O_DIRECTORY)
        try:
            while not self._end.is_set():
                fcntl.ioctl(descriptor, FREEZE, 0)
                try:
                    self._end.wait(SLOW_S)
                finally:
                    fcntl.ioctl(descriptor, THAW, 0)
                self._end.wait(ANSWERS_S)
        finally:
            os.close(descriptor)


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Disk]:
    """Make an ext4 file system and mount it. Raises OSError and CalledProcessError."""
    image, place = folder / "image", folder / "disk"
    place.mkdir()
    with image.open("wb") as file:
        file.truncate(megabytes << 20)
    _run("mkfs.ext4", "-q", "-m", "0", "-b", str(BLOCK_BYTES), str(image))
    _run("mount", "-o", "loop,noatime", str(image), str(place))
    disk = Disk(place)
    try:
        yield disk
    finally:
        disk.fast()
        # Lazily: who has files open there ends later.
        _run("umount", "--lazy", str(place))


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
