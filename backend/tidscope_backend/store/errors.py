"""Why a run cannot be read or written, as text for people."""

import errno
from pathlib import Path

from pydantic import ValidationError
from tidscope_wire.problems import ProblemError, refusal

from tidscope_backend.validation import validation_text


def damage_text(error: OSError | ValueError) -> str:
    """Describe why a run cannot be read, in one line and without paths of this machine."""
    if isinstance(error, ValidationError):
        return f"manifest.json: {validation_text(error)}"
    if isinstance(error, OSError):
        name = Path(str(error.filename or "")).name
        return f"{name}: {error.strerror or error}"
    return str(error)


def unwritable(path: Path, error: OSError) -> ProblemError:
    """The problem to report when a folder cannot be written to."""
    return refusal(
        "disk-full" if disk_full(error) else "runs-unavailable",
        f"{path} cannot be written to: {error.strerror or error}",
        "make room there"
        if disk_full(error)
        else "let the backend's user write there, or set TIDSCOPE_RUNS to another folder",
    )


def disk_full(error: OSError) -> bool:
    """Whether a disk or a quota is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)
