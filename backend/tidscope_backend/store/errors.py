"""What is wrong with a run that cannot be read, in words."""

from pathlib import Path

from pydantic import ValidationError

from tidscope_backend.validation import complaint


def damage(error: OSError | ValueError) -> str:
    """Describe it in one line, without paths of this machine."""
    if isinstance(error, ValidationError):
        return f"manifest.json: {complaint(error)}"
    if isinstance(error, OSError):
        name = Path(str(error.filename or "")).name
        return f"{name}: {error.strerror or error}"
    return str(error)
