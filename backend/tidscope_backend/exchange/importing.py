"""Import of a run, unpacked and rewritten by a limited process, and completed by a rename.

This process never reads the archive. It reads only the limited process's answer (a bounded
manifest) and the names of the files written.
"""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from tidscope_confinement.resources import Limits
from tidscope_wire.generated.models import RunManifest

from tidscope_backend.exchange.confinement import DEFAULT_LIMITS, DEFAULT_SECONDS, ENVIRONMENT
from tidscope_backend.exchange.limited_import import FAILED, REFUSED
from tidscope_backend.exchange.unpacking import DEFAULT_BOUNDS, BadArchiveError, Bounds
from tidscope_backend.processes import bound_to_parent, run_module
from tidscope_backend.store.directory import with_bytes
from tidscope_backend.store.folder import RunFolder, is_run_file, new_run_id, sync_folder

IMPORT_PROGRAM = "tidscope_backend.exchange.limited_import"
LEFTOVER_SECONDS = 86_400.0
MAX_ANSWER_BYTES = 4 * 2**20
SHARE_OF_FREE = 2
"""Divisor of the free disk space for an import; active recordings need the remainder."""
SECONDS_PER_MIB = 2
"""CPU seconds per MiB of archive, plus a minute. A part with 64 MiB of frames takes 1 s."""


def import_run(
    archive: Path,
    runs: Path,
    exists: Callable[[str], bool],
    bounds: Bounds = DEFAULT_BOUNDS,
    limits: Limits | None = None,
) -> RunManifest:
    """Import a run from an archive.

    Args:
        archive: a .tar.zst.
        runs: the runs directory; the archive is unpacked in it under a temporary name.
        exists: returns whether a run ID is in use, deleted runs included.
        bounds: bounds on the unpacked data.
        limits: limits of the unpacking process; None: by the size of the archive.

    Returns:
        Manifest, with a new ID if the archive's is in use.

    Raises:
        BadArchiveError: the archive does not contain a readable run.
        OSError: files cannot be read or written.
    """
    clear_leftovers(runs, time.time())
    with archive.open("rb"):
        pass  # Errors of this reading belong to the caller, not to the archive.
    disk = os.statvfs(runs)
    free = disk.f_bavail * disk.f_frsize // SHARE_OF_FREE
    bounds = replace(bounds, max_bytes=min(bounds.max_bytes, free))
    limits = limits or limits_of(archive.stat().st_size)
    beside = runs / f".import-{new_run_id(time.time())}"
    beside.mkdir(mode=0o700)
    try:
        manifest = _rewritten(archive.absolute(), beside.absolute(), bounds, limits)
        folder = RunFolder(beside / "run")
        _check_files(folder.path)
        while exists(manifest.id):
            manifest = manifest.model_copy(update={"id": new_run_id(time.time())})
        manifest = with_bytes(folder, manifest)
        folder.write_manifest(manifest)
        folder.path.rename(runs / manifest.id)
        sync_folder(runs)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return manifest


def limits_of(archive_bytes: int) -> Limits:
    """Return the limits for an archive of this size."""
    more_s = SECONDS_PER_MIB * archive_bytes // 2**20
    return DEFAULT_LIMITS._replace(cpu_s=DEFAULT_SECONDS + more_s, wall_s=DEFAULT_SECONDS + more_s)


def clear_leftovers(runs: Path, unix_s: float) -> None:
    """Remove leftovers of killed imports; recent ones may belong to running imports."""
    for path in runs.glob(".import-*"):
        try:
            old = path.lstat().st_mtime < unix_s - LEFTOVER_SECONDS
        except FileNotFoundError:
            continue
        if old and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif old:
            path.unlink(missing_ok=True)


def _rewritten(archive: Path, beside: Path, bounds: Bounds, limits: Limits) -> RunManifest:
    """Run the limited process.

    Raises:
        BadArchiveError: the process refused the archive, or exceeded its limits.
        OSError: the process could not write.
    """
    orders = json.dumps({"bounds": asdict(bounds), "limits": limits._asdict()})
    arguments = run_module(IMPORT_PROGRAM, str(archive), str(beside), orders)
    answer_path = beside / "answer"
    with (
        answer_path.open("w+b") as answer,
        subprocess.Popen(
            bound_to_parent(arguments),
            stdin=subprocess.DEVNULL,
            stdout=answer,
            stderr=subprocess.DEVNULL,
            env=ENVIRONMENT,
        ) as process,
    ):
        try:
            code = process.wait(limits.wall_s)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        answer.seek(0)
        text = answer.read(MAX_ANSWER_BYTES + 1)
    if code or len(text) > MAX_ANSWER_BYTES:
        raise BadArchiveError(_failure(code, limits))
    kind, _, rest = text.partition(b"\n")
    if kind == REFUSED:
        raise BadArchiveError(rest.decode(errors="replace"))
    if kind == FAILED:
        raise OSError(int(rest), os.strerror(int(rest)))
    return RunManifest.model_validate_json(rest)


def _failure(code: int, limits: Limits) -> str:
    if code in (-signal.SIGKILL, -signal.SIGXCPU, -signal.SIGALRM):
        return f"importing it takes more than {limits.wall_s} s, or more memory than there is"
    return "importing it takes more memory than an import may use, or crashes the program"


def _check_files(run: Path) -> None:
    """Check that the written files are regular files of a sealed run: no link, and no open part."""
    for top, folders, names in os.walk(run):
        for name in (*folders, *names):
            path = Path(top) / name
            mode = path.lstat().st_mode
            inside = path.relative_to(run).as_posix()
            fine = S_ISDIR(mode) if name in folders else S_ISREG(mode) and is_run_file(inside)
            if not fine or inside.startswith("open/"):
                raise BadArchiveError(f"{inside!r} is not a file of a run")
