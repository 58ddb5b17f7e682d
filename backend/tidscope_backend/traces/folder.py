"""Where spans lie: beside the runs, a folder for each life of a backend that stored some."""

import os
import re
import secrets
import time
from dataclasses import dataclass
from pathlib import Path

FOLDER = ".traces"
"""In the runs directory."""
NAME = re.compile(r"s-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}\Z")
_SEALED = re.compile(r"([0-9]{6,9})\.parquet\Z")
_OPEN = re.compile(r"([0-9]{6,9})\.spans\Z")


@dataclass(frozen=True)
class SpanFolder:
    """The folder of one life of a backend; it is the only one that writes there.

    A part is either NUMBER.spans, batches as they came, or NUMBER.parquet. Where both exist, the
    first one counts.
    """

    path: Path

    @classmethod
    def create(cls, runs: Path, unix_s: float) -> "SpanFolder":
        """Make a new one. Raises OSError."""
        stamp = time.strftime("s-%Y%m%d-%H%M%S-", time.gmtime(unix_s))
        path = runs / FOLDER / (stamp + secrets.token_hex(3))
        path.mkdir(parents=True, mode=0o700)
        return cls(path)

    def open_part(self, number: int) -> Path:
        """Batches as they came."""
        return self.path / f"{number:06d}.spans"

    def sealed_part(self, number: int) -> Path:
        """Spans of a part that is full, sorted by trace."""
        return self.path / f"{number:06d}.parquet"

    def open_parts(self) -> list[int]:
        """Numbers of the parts that are not sealed, ascending."""
        return self._numbers(_OPEN)

    def sealed_parts(self) -> list[int]:
        """Numbers of the parts that are Parquet alone, ascending."""
        return sorted(set(self._numbers(_SEALED)) - set(self.open_parts()))

    def _numbers(self, pattern: re.Pattern[str]) -> list[int]:
        try:
            names = os.listdir(self.path)
        except FileNotFoundError:
            return []  # Retention has removed it.
        return sorted(int(found[1]) for found in map(pattern.match, names) if found)


def span_folders(runs: Path | None) -> list[SpanFolder]:
    """All folders of spans, the oldest first."""
    try:
        entries = [] if runs is None else list(os.scandir(runs / FOLDER))
    except OSError:
        return []
    found = [one for one in entries if NAME.match(one.name) and one.is_dir(follow_symlinks=False)]
    return sorted((SpanFolder(Path(one.path)) for one in found), key=lambda one: one.path.name)
