"""Running our programs as a user who may not read the folder that this checkout may lie in."""

import os
import subprocess
import sys
from pathlib import Path

from capabilities import missing

ROOT = Path(__file__).parents[1]
PUBLIC = "/mnt"
IN_PUBLIC = ("unshare", "--mount", "sh", "-c", 'mount --bind "$0" /mnt && exec "$@"', str(ROOT))
"""Runs a command where this checkout is mounted once more, outside all private folders."""


def python_for(user: str) -> str:
    """An interpreter of this version that a user may run: ours may lie in a private folder."""
    for candidate in (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}"):
        try:
            subprocess.run([candidate, "-c", ""], user=user, check=True)
        except (PermissionError, FileNotFoundError):
            continue
        return candidate
    raise missing("python-for-others", user)


def public_path() -> str:
    """PYTHONPATH of what runs within IN_PUBLIC; its standard library is that interpreter's own."""
    paths = [path for path in sys.path if path and not path.startswith(sys.base_prefix)]
    return os.pathsep.join(path.replace(str(ROOT), PUBLIC, 1) for path in paths)
