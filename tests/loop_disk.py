"""An ext4 file system of its own in a file: it can be frozen, and its disk be copied as it is."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from capabilities import missing

SIZE = 24 * 1024 * 1024


class LoopDisk:
    """A mounted file system.

    Args:
        image: the file that it is in.
        place: where it is mounted.
    """

    def __init__(self, image: Path, place: Path) -> None:
        self.image = image
        self.place = place

    def freeze(self) -> None:
        """Let every write to it wait, as a disk does that does not answer."""
        run("fsfreeze", "--freeze", str(self.place))

    def thaw(self) -> None:
        """Let it go on."""
        run("fsfreeze", "--unfreeze", str(self.place))

    def after_power_cut(self, copy: Path) -> Path:
        """Copy what is on the disk now; what only memory has is not in it."""
        shutil.copyfile(self.image, copy)
        return copy


def run(*arguments: str) -> None:
    """Run a program. Raises CalledProcessError."""
    subprocess.run(arguments, check=True, capture_output=True, text=True)


@contextmanager
def mounted(image: Path, place: Path) -> Iterator[LoopDisk]:
    """Mount an image; skips where that cannot be done."""
    place.mkdir()
    try:
        # Nothing goes to the disk by itself: it is what programs synced.
        run("mount", "-o", "loop,commit=300,noatime", str(image), str(place))
    except (OSError, subprocess.CalledProcessError) as error:
        raise missing("mount", str(getattr(error, "stderr", error)).strip()) from None
    disk = LoopDisk(image, place)
    try:
        yield disk
    finally:
        with suppress(subprocess.CalledProcessError):
            disk.thaw()  # It may not be frozen.
        run("umount", "--lazy", str(place))


@contextmanager
def loop_disk(folder: Path) -> Iterator[LoopDisk]:
    """Make a file system and mount it."""
    image = folder / "image"
    with image.open("wb") as file:
        file.truncate(SIZE)
    try:
        run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", str(image))
    except (OSError, subprocess.CalledProcessError) as error:
        raise missing("mount", str(error)) from None
    with mounted(image, folder / "disk") as disk:
        yield disk
