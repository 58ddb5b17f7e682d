"""Where and when results were made."""

import os
import platform
import shutil
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Provenance:
    """Of a run of the bench.

    Attributes:
        machine: processor and cores.
        date: UTC.
        commit: of the checkout, with a plus if files differ from it; "unknown" outside of one.
    """

    machine: str
    date: str
    commit: str

    @classmethod
    def here(cls) -> "Provenance":
        """Of this machine, now."""
        return cls(
            machine=f"{_processor()}, {len(os.sched_getaffinity(0))} cores",
            date=time.strftime("%Y-%m-%d", time.gmtime()),
            commit=_commit(),
        )

    def as_dict(self) -> dict[str, str]:
        """For JSON."""
        return asdict(self)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _commit() -> str:
    git = shutil.which("git")
    if git is None:
        return "unknown"

    def ask(*arguments: str) -> str | None:
        done = subprocess.run(
            [git, "-C", str(HERE), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        return done.stdout.strip() if done.returncode == 0 else None

    commit = ask("rev-parse", "--short", "HEAD")
    if commit is None:
        return "unknown"
    return f"{commit}+" if ask("status", "--porcelain", "--untracked-files=no", ".") else commit
