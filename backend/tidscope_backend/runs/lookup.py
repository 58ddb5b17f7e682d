"""Where runs lie, and finding one by what a person or a request calls it."""

import os
from collections.abc import Mapping
from pathlib import Path

from tidscope_wire.generated.models import RunManifest

from tidscope_backend.runs.folder import RUN_ID, RunFolder

VARIABLE = "TIDSCOPE_RUNS"


class NoSuchRunError(LookupError):
    """There is no such run, or there are several; the text says which."""


def runs_folder(environ: Mapping[str, str], home: Path | None = None) -> Path:
    """`$TIDSCOPE_RUNS`, or the place for a user's data (XDG Base Directory Specification)."""
    if chosen := environ.get(VARIABLE):
        return Path(chosen)
    data = environ.get("XDG_DATA_HOME", "")
    # The specification: a path that is not absolute is to be ignored.
    base = Path(data) if data.startswith("/") else (home or Path.home()) / ".local" / "share"
    return base / "tidscope" / "runs"


def all_runs(runs: Path) -> list[RunManifest]:
    """Manifests of the runs in a folder, the newest first; what cannot be read is left out."""
    found = []
    try:
        names = os.listdir(runs)
    except FileNotFoundError:
        return []
    for name in names:
        if RUN_ID.match(name):
            try:
                found.append(RunFolder(runs / name).read_manifest())
            except (OSError, ValueError):
                continue
    return sorted(found, key=lambda run: (run.created_unix_us, run.id), reverse=True)


def find_run(runs: Path, called: str) -> Path:
    """Find a run by its id, its name, or how one of the two begins, if that is clear.

    Raises:
        NoSuchRunError: none is called so, or several are.
    """
    known = all_runs(runs)
    ways = (
        [run for run in known if called == run.id],
        [run for run in known if called == run.name],
        [run for run in known if run.id.removeprefix("r-").startswith(called.removeprefix("r-"))],
        [run for run in known if run.name.startswith(called)],
    )
    for found in ways if called else ():
        if len(found) == 1:
            return runs / found[0].id
        if found:
            ids = ", ".join(run.id for run in found[:5])
            raise NoSuchRunError(f"{called!r} could be any of {len(found)} runs: {ids}")
    raise NoSuchRunError(f"no run in {runs} is called {called!r}; `tidscope runs` lists them")
