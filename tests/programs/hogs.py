"""Processes that compute without a pause."""

import subprocess
from pathlib import Path

from programs.build import build_c


class Hog:
    """A process of one thread that computes without a pause, on one CPU; use it in a ``with``."""

    def __init__(self, cpu: int) -> None:
        self._process = subprocess.Popen(
            [build_c(Path(__file__).parent / "hog.c"), str(cpu)],
            stdout=subprocess.PIPE,
            start_new_session=True,  # else it shares its part of the CPU with all other tests
        )
        self.pid = self._process.pid
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def run_ns(self) -> int:
        """How long it ran so far."""
        return int(Path(f"/proc/{self.pid}/schedstat").read_text().split()[0])

    def __enter__(self) -> "Hog":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()
