"""Which files a run consists of. Nothing else is packed, and nothing else is unpacked."""

import re

FOLDERS = ("samples", "signals", "events", "live")
MANIFEST = "manifest.json"
THREADS = "threads.parquet"
_FILE = re.compile(
    r"manifest\.json|threads\.parquet"
    r"|(?:samples|signals)/[0-9]{6,9}\.parquet|events/[0-9]{6,9}\.jsonl|live/[0-9]{6,9}\.frames"
)


def is_file_of_run(name: str) -> bool:
    """Whether a path within a run's folder is one of its files."""
    return _FILE.fullmatch(name) is not None
