"""Opening of a run to export it."""

from pathlib import Path

from tidscope_backend.hidden_arguments import manifest_without
from tidscope_backend.store.reader import RunReader


def open_run(path: Path, hide: bool) -> RunReader:
    """Open a run.

    Args:
        path: of its folder.
        hide: arguments and output of programs, as from viewers.

    Raises:
        OSError: it cannot be read.
        ValueError: its manifest is invalid.
    """
    reader = RunReader(path)
    if hide:
        reader.manifest = manifest_without(reader.manifest)
    return reader
