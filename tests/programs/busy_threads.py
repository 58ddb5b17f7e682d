"""Runs busy_threads.c, whose threads do all that is counted."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from programs.build import build_c


@contextmanager
def busy_threads(folder: Path, copies: int = 3) -> Iterator[int]:
    """Run it; gives its process id.

    Args:
        folder: on a disk, for the file that it writes and reads.
        copies: number of threads of each kind; six of seven kinds last.
    """
    executable = build_c(Path(__file__).with_suffix(".c"))
    with subprocess.Popen(
        [executable, folder / "busy", str(copies)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield process.pid
        finally:
            process.kill()
