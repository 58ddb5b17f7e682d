"""Finds runs and groups of repeats by what a person calls them."""

import os
from pathlib import Path

from tidscope_wire.generated.models import RunManifest

from tidscope_backend.store.folder import RUN_ID, RunFolder


class RunNotFoundError(LookupError):
    """There is no such run, or there are several; the text says which."""


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
        RunNotFoundError: none is called so, or several are.
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
            raise RunNotFoundError(f"{called!r} could be any of {len(found)} runs: {ids}")
    raise RunNotFoundError(f"no run in {runs} is called {called!r}; `tidscope runs` lists them")


def find_runs(runs: Path, called: str) -> list[Path]:
    """Find a run as `find_run` does, or all finished runs of a group of repeats by its name.

    `run:NAME` and `group:NAME` say which is meant where both exist.

    Raises:
        RunNotFoundError: there is neither, or several runs, or both a run and a group.
    """
    kind, colon, name = called.partition(":")
    if colon and kind == "run":
        return [find_run(runs, name)]
    group = name if colon and kind == "group" else called
    known = all_runs(runs)
    # Oldest first, as repeats were recorded.
    repeats = [run for run in reversed(known) if run.group == group and run.state != "recording"]
    if colon and kind == "group":
        if not repeats:
            groups = ", ".join(sorted({run.group for run in known if run.group})) or "none"
            raise RunNotFoundError(f"no finished run is in a group {group!r}; groups: {groups}")
    elif repeats and any(called in (run.id, run.name) for run in known):
        raise RunNotFoundError(
            f"{called!r} is both a run and a group of {len(repeats)} runs: "
            f"write run:{called} or group:{called}"
        )
    return [runs / run.id for run in repeats] if repeats else [find_run(runs, called)]
