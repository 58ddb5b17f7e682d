"""`tidscope runs`: the runs in this user's folder, without browser or backend."""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tidscope_wire.generated.models import RunManifest, RunPatch
from tidscope_wire.problems import ProblemError

from tidscope_backend.cli.command import Command, CommandError, print_lines
from tidscope_backend.cli.run_report import report
from tidscope_backend.cli.run_text import SHOWN_THREADS, details, failed, kept_line, list_line
from tidscope_backend.cli.server_options import add_runs_dir_option, chosen_runs_directory
from tidscope_backend.cli.times import unix_us_of
from tidscope_backend.store.directory import (
    RunNotFoundError,
    RunsDirectory,
    all_runs,
    delete_run,
    find_run,
    restore_run,
)
from tidscope_backend.store.folder import RunFolder, RunLock, new_run_id, what_is_missing

ENDINGS = {
    ".tar.zst": "folder",
    ".pools.parquet": "pools-parquet",
    ".pools.csv": "pools-csv",
    ".parquet": "parquet",
    ".csv": "csv",
    ".json": "trace",
}
"""Formats by file name suffix."""


def _run(options: argparse.Namespace) -> int:
    """Run the subcommand."""
    runs = chosen_runs_directory(options)
    work: Callable[[Path, argparse.Namespace], None] = options.work
    try:
        work(runs, options)
    except RunNotFoundError as error:
        raise CommandError(str(error)) from None
    except ProblemError as error:
        raise CommandError(f"{error.problem.detail}; {error.problem.hint}") from None
    except BrokenPipeError:
        raise  # Reported like any command's error.
    except (OSError, ValueError) as error:
        raise CommandError(str(error)) from None
    return 0


def _list(runs: Path, options: argparse.Namespace) -> None:
    found = all_runs(runs)
    if options.json:
        print_lines(json.dumps([_listed(runs, one) for one in found]))
        return
    if not found:
        print_lines(f"no runs in {runs}; `tidscope record -- COMMAND` makes one", file=sys.stderr)
    for one in found:
        print_lines(list_line(one, RunFolder(runs / one.id).bytes()))


def _listed(runs: Path, manifest: RunManifest) -> dict[str, object]:
    """Return a run as JSON: missing data, manifest without catalogue, size, and failure."""
    return {
        "missing": what_is_missing(manifest) or None,
        **manifest.model_dump(mode="json", exclude={"fields"}),
        "disk_bytes": RunFolder(runs / manifest.id).bytes(),
        "failed": None if manifest.outcome is None else failed(manifest.outcome),
    }


def _show(runs: Path, options: argparse.Namespace) -> None:
    folder = RunFolder(find_run(runs, options.run))
    found = report(folder)
    if options.json:
        print_lines(json.dumps(found.json_object()))
    else:
        print_lines(*details(found, str(folder.path), None if options.all else SHOWN_THREADS))


def _rename(runs: Path, options: argparse.Namespace) -> None:
    _change(runs, options.run, RunPatch(name=options.name))


def _tag(runs: Path, options: argparse.Namespace) -> None:
    _change(runs, options.run, RunPatch(tags=options.tags))


def _delete(runs: Path, options: argparse.Namespace) -> None:
    folder, lock = _held(runs, options.run)
    try:
        delete_run(folder, time.time())
    finally:
        lock.release()
    name = folder.path.name
    print_lines(f"deleted {name}; `tidscope runs restore {name}` within an hour")


def _restore(runs: Path, options: argparse.Namespace) -> None:
    print_lines(f"restored {restore_run(RunsDirectory(runs), options.run).path}")


def _export(runs: Path, options: argparse.Namespace) -> None:
    from tidscope_backend.exchange.formats import MAKERS

    path = find_run(runs, options.run)
    chosen = options.format or next(
        (kind for ending, kind in ENDINGS.items() if options.file.endswith(ending)), None
    )
    if chosen is None:
        raise CommandError(
            f"{options.file}: want a name that ends with {', '.join(ENDINGS)}, or --format"
        )
    content = MAKERS[chosen](path, False)
    if options.file == "-":
        _write_all(content, sys.stdout.buffer.write)
        return
    beside = Path(f"{options.file}.part")
    try:
        with beside.open("xb") as file:
            _write_all(content, file.write)
        beside.rename(options.file)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _import(runs: Path, options: argparse.Namespace) -> None:
    from tidscope_backend.exchange.importing import import_run

    home = RunsDirectory(runs)
    manifest = import_run(Path(options.file), home.make(), home.has)
    print_lines(manifest.model_dump_json() if options.json else f"imported {runs / manifest.id}")


def _kept(runs: Path, options: argparse.Namespace) -> None:
    from tidscope_backend.ring.listing import FOLDER, ring_tracks

    found = ring_tracks(runs / FOLDER)
    if options.json:
        print_lines(json.dumps([one.model_dump(mode="json") for one in found]))
        return
    if not found:
        print_lines(
            "nothing is kept; `tidscope up` and `collect` do with --keep-minutes 60",
            file=sys.stderr,
        )
    print_lines(*map(kept_line, found))


def _cut(runs: Path, options: argparse.Namespace) -> None:
    from tidscope_backend.ring.cutting import NothingKeptError, cut_run
    from tidscope_backend.ring.listing import FOLDER, TrackNotFoundError, find_track

    try:
        track = find_track(runs / FOLDER, options.target)
        first, last = track.from_unix_us, track.to_unix_us
        window = (
            first if options.start is None else unix_us_of(options.start, last),
            last if options.end is None else unix_us_of(options.end, last),
        )
        folder, name = RunFolder(runs / FOLDER / track.id), new_run_id(time.time())
        manifest = cut_run(folder, RunsDirectory(runs).make(), name, window, options.name)
    except (TrackNotFoundError, NothingKeptError) as error:
        raise CommandError(str(error)) from None
    print_lines(manifest.model_dump_json() if options.json else f"cut {runs / manifest.id}")


def _change(runs: Path, called: str, patch: RunPatch) -> None:
    folder, lock = _held(runs, called)
    try:
        update = {name: getattr(patch, name) for name in patch.model_fields_set}
        manifest = folder.read_manifest()
        changed = RunManifest.model_validate({**manifest.model_dump(), **update})
        folder.write_manifest(changed)
    finally:
        lock.release()


def _held(runs: Path, called: str) -> tuple[RunFolder, RunLock]:
    """Lock a run that no backend is using."""
    folder = RunFolder(find_run(runs, called))
    lock = RunLock.acquire(folder)
    if lock is None:
        raise CommandError(f"{folder.path.name} is being recorded; do it on the page, or stop it")
    return folder, lock


def _write_all(content: Iterator[bytes], write: Callable[[bytes], object]) -> None:
    for chunk in content:
        write(chunk)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_runs_dir_option(parser)
    verbs = parser.add_subparsers(metavar="SUBCOMMAND", required=True)

    def verb(
        name: str,
        work: Callable[[Path, argparse.Namespace], None],
        text: str,
        *,
        of_run: bool = True,
    ) -> argparse.ArgumentParser:
        made = verbs.add_parser(name, help=text, description=f"{text[:1].upper()}{text[1:]}.")
        made.set_defaults(work=work)
        if of_run:
            made.add_argument("run", metavar="RUN", help="id or name of the run, or its start")
        return made

    show = verb("show", _show, "show the totals, roles and threads of a run")
    show.add_argument(
        "--all", action="store_true", help=f"list all threads, not only the first {SHOWN_THREADS}"
    )
    with_json = [
        verb("list", _list, "list runs, newest first", of_run=False),
        show,
        verb("import", _import, "import a run that was exported as .tar.zst", of_run=False),
    ]
    with_json[2].add_argument("file", metavar="FILE", help="the exported file")
    with_json.append(
        verb("kept", _kept, "list the targets whose last minutes are kept", of_run=False)
    )
    cut = verb("cut", _cut, "make a run of the last minutes that are kept", of_run=False)
    cut.add_argument(
        "target", metavar="TARGET", help="process ID or name, group, target, or track of `kept`"
    )
    when = (
        "a time such as 03:12 or 2026-11-29T03:12:00, or -90 for 90 seconds before its last frame"
    )
    cut.add_argument(
        "--from", dest="start", metavar="TIME", help=f"{when} (default: all that is kept)"
    )
    cut.add_argument("--to", dest="end", metavar="TIME", help="likewise (default: the last frame)")
    cut.add_argument("--name", help="name of the run (default: that of the process)")
    with_json.append(cut)
    for made in with_json:
        made.add_argument("--json", action="store_true", help="print JSON")
    verb("rename", _rename, "rename a run").add_argument(
        "name", metavar="NAME", help="the new name"
    )
    verb("tag", _tag, "replace the tags of a run").add_argument(
        "tags", metavar="TAG", nargs="*", help="the new tags; none removes all"
    )
    verb("delete", _delete, "move a run to the trash, where it stays for an hour")
    verb("restore", _restore, "restore a deleted run, by its id")
    export = verb("export", _export, "export a run to a file")
    export.add_argument(
        "file",
        metavar="FILE",
        help=f"file to write, ending in {', '.join(ENDINGS)}; - for standard output",
    )
    export.add_argument(
        "--format",
        choices=sorted(set(ENDINGS.values())),
        help="format (default: by the ending of FILE)",
    )


COMMAND = Command(
    name="runs",
    help="list, show, rename, tag, delete, restore, export, import and cut runs",
    description="Work with recorded runs, without a backend. RUN is an id, a name, or the start "
    "of either.",
    add_arguments=_add_arguments,
    run=_run,
)
