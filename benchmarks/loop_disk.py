"""A small ext4 file system in a file, whose disk can be full, slow, silent or without power."""

import fcntl
import filecmp
import os
import shutil
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


class LoopDisk:
    """A mounted file system.

    Args:
        image: file that holds the file system.
        place: mount point.
    """

    def __init__(self, image: Path, place: Path) -> None:
        self.image = image
        self.place = place
        self._filler = place / "filler"
        self._end = threading.Event()
        self._slowing: threading.Thread | None = None

    def fill(self) -> None:
        """Fill the disk: leave no free block, and no room in the last block of a log."""
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
        """Undo `fill`."""
        self._filler.unlink(missing_ok=True)

    def slow(self) -> None:
        """Block writes for nine tenths of each second, until `fast` is called."""
        self._end.clear()
        self._slowing = threading.Thread(target=self._freeze_and_thaw, daemon=True)
        self._slowing.start()

    def fast(self) -> None:
        """Undo `slow`."""
        self._end.set()
        if self._slowing is not None:
            self._slowing.join()
            self._slowing = None

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Block every write for a while, as a disk that does not answer."""
        _run("fsfreeze", "--freeze", str(self.place))
        try:
            yield
        finally:
            _run("fsfreeze", "--unfreeze", str(self.place))

    def after_power_cut(self, copy: Path) -> Path:
        """Copy the disk's current content, without data that only memory holds.

        A copy takes time, and a power cut none: a copy counts if nothing was written meanwhile.
        """
        shutil.copyfile(self.image, copy)
        while not filecmp.cmp(self.image, copy, shallow=False):
            shutil.copyfile(self.image, copy)
        return copy

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
def small_disk(folder: Path, megabytes: int) -> Iterator[LoopDisk]:
    """Make a file system without reserved blocks and mount it.

    Raises:
        OSError, CalledProcessError: it cannot be mounted here.
    """
    options = ("-m", "0", "-b", str(BLOCK_BYTES))
    with mounted(_made(folder, megabytes, *options), folder / "disk") as disk:
        yield disk


@contextmanager
def synced_disk(folder: Path, megabytes: int = 24) -> Iterator[LoopDisk]:
    """Make a file system whose image holds only data that programs synced, and mount it.

    Raises:
        OSError, CalledProcessError: it cannot be mounted here.
    """
    image = _made(folder, megabytes, "-E", "lazy_itable_init=0,lazy_journal_init=0")
    with mounted(image, folder / "disk", "commit=300") as disk:
        yield disk


@contextmanager
def mounted(image: Path, place: Path, *options: str) -> Iterator[LoopDisk]:
    """Mount an image.

    Raises:
        OSError, CalledProcessError: it cannot be mounted here.
    """
    place.mkdir()
    _run("mount", "-o", ",".join(("loop", "noatime", *options)), str(image), str(place))
    disk = LoopDisk(image, place)
    try:
        yield disk
    finally:
        disk.fast()
        # Lazily: programs with files open there end later.
        _run("umount", "--lazy", str(place))


def _made(folder: Path, megabytes: int, *options: str) -> Path:
    """Make an ext4 file system in a file."""
    image = folder / "image"
    with image.open("wb") as file:
        file.truncate(megabytes << 20)
    _run("mkfs.ext4", "-q", *options, str(image))
    return image


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)
