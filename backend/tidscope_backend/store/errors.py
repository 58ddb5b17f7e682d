"""Why a run cannot be read or written, as text for people."""

import errno
from pathlib import Path

from pydantic import ValidationError
from tidscope_wire.problems import ProblemError, refusal

from tidscope_backend.descriptors import is_exhausted
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
    text = f"{path} cannot be written to: {error.strerror or error}"
    if disk_full(error):
        return refusal("disk-full", text, "make room there")
    hint = "let the backend's user write there, or set TIDSCOPE_RUNS to another folder"
    if is_exhausted(error):
        hint = "try again; give the backend a higher hard limit on open files (ulimit -Hn)"
    return refusal("runs-unavailable", text, hint)


def disk_full(error: OSError) -> bool:
    """Whether a disk or a quota is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)
