"""`tidscope record`: a run without a browser, of a process or of a command."""

import argparse
import os
import pwd
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tidscope_wire.generated.models import RunManifest

from tidscope_backend.cli.address import port
from tidscope_backend.cli.backend_client import RefusedError, UnavailableError
from tidscope_backend.cli.failure import CommandError
from tidscope_backend.cli.launched import OWN_FAILURE, Launched, launch
from tidscope_backend.cli.own_site import Reached, reached
from tidscope_backend.cli.passing import BEAT_SECONDS, run_to_end
from tidscope_backend.cli.recording_desk import RecordingDesk, Wish
from tidscope_backend.cli.run_words import progress, summary
from tidscope_backend.settings import DEFAULT_HOST, DEFAULT_PORT, runs_folder
from tidscope_backend.store.folder import RunFolder

CLOSING_SECONDS = 15.0
CLOSING_LOOK_SECONDS = 0.05
LINE_WIDTH = 79


def run(arguments: Sequence[str]) -> int:
    """Record, and say what was recorded."""
    options = _options(arguments)
    try:
        runs = runs_of(os.environ)
        child = launch(options.command) if options.command else None
        try:
            with reached(f"{options.host}:{options.port}", runs) as site:
                desk = RecordingDesk(site, _wish(options))
                if child is None:
                    manifest = _of_process(desk, options)
                    _conclude(site, runs, manifest, options, told_to=sys.stdout.fileno())
                    return 0
                return _of_command(desk, site, runs, child, options)
        finally:
            if child is not None:
                child.end_if_held()
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except (RefusedError, UnavailableError) as error:
        raise CommandError(str(error), OWN_FAILURE if options.command else 1) from None
    except CommandError as error:
        own = bool(options.command) and error.code == 1
        raise CommandError(str(error), OWN_FAILURE if own else error.code) from None


def runs_of(environ: Mapping[str, str]) -> Path:
    """Where a tidscope of this user keeps its runs; with sudo, of the user that called it.

    Raises:
        CommandError: nowhere.
    """
    known = dict(environ)
    if os.geteuid() == 0 and int(known.get("SUDO_UID", "0")):
        known.pop("XDG_DATA_HOME", None)
        with suppress(KeyError):
            known["HOME"] = pwd.getpwuid(int(known["SUDO_UID"])).pw_dir
    runs = runs_folder(known)
    if runs is None:
        raise CommandError("there is no folder for runs: set TIDSCOPE_RUNS to one")
    return runs


def _of_process(desk: RecordingDesk, options: argparse.Namespace) -> RunManifest:
    """Record until the process ends, a signal comes, or the time is over."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    before = desk.attached()
    target = desk.attach(options.pid)
    line = _Line(shown=sys.stderr.isatty() and not options.json)
    try:
        manifest = desk.begin(target)
        while manifest.state == "recording" and not stop.wait(BEAT_SECONDS):
            manifest = desk.look(manifest)
            line.show(progress(manifest))
        return desk.stop(manifest) if manifest.state == "recording" else manifest
    finally:
        line.clear()
        if target.id not in before:
            desk.detach(target)


def _of_command(
    desk: RecordingDesk, site: Reached, runs: Path, child: Launched, options: argparse.Namespace
) -> int:
    """Record a command that is held, from its first instruction to its end."""
    manifest = desk.begin(desk.attach(child.pid))
    line = _Line(shown=sys.stderr.isatty() and not options.json)

    def beat() -> None:
        # A backend that is away is asked again; the command goes on.
        with suppress(RefusedError, UnavailableError):
            line.show(progress(desk.look(manifest)))

    ended = run_to_end(child, beat if line.shown else _nothing)
    line.clear()
    try:
        manifest = desk.tell_outcome(desk.ended(manifest), ended.outcome(options.command))
    except (RefusedError, UnavailableError) as error:
        # How the command ended is what its caller waits for.
        print(f"tidscope record: the run was not finished: {error}", file=sys.stderr)
    else:
        _conclude(site, runs, manifest, options, told_to=sys.stderr.fileno())
    return ended.code


def _conclude(
    site: Reached, runs: Path, manifest: RunManifest, options: argparse.Namespace, told_to: int
) -> None:
    """Say what was recorded; of a run whose folder is not here, what its manifest tells."""
    folder = RunFolder(runs / manifest.id)
    here = folder.manifest.exists()
    if site.own:
        # The last part is made into Parquet before our own tidscope ends.
        end = time.monotonic() + CLOSING_SECONDS
        while not folder.threads.exists() and time.monotonic() < end:
            time.sleep(CLOSING_LOOK_SECONDS)
    if here:
        manifest = folder.read_manifest()
    text = (
        manifest.model_dump_json() if options.json else summary(manifest, folder if here else None)
    )
    os.write(told_to, f"{text}\n".encode())


class _Line:
    """A line of a terminal that is written again and again."""

    def __init__(self, *, shown: bool) -> None:
        self.shown = shown
        self._used = False

    def show(self, text: str) -> None:
        """Replace it."""
        if self.shown:
            self._used = True
            print(f"\r\033[K{text[:LINE_WIDTH]}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Leave nothing of it."""
        if self._used:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _nothing() -> None:
    """Nobody watches."""


def _wish(options: argparse.Namespace) -> Wish:
    return Wish(
        name=options.name,
        tags=options.tag,
        group=options.group,
        notes=options.notes,
        rate_hz=options.rate,
        past_s=options.past,
        duration_s=options.duration,
    )


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line; what stands behind -- is the command."""
    own, command = list(arguments), list[str]()
    if "--" in own:
        place = own.index("--")
        own, command = own[:place], own[place + 1 :]
    parser = argparse.ArgumentParser(
        prog="tidscope record",
        usage="tidscope record [options] (--pid PID | -- COMMAND ARGUMENT...)",
        description="Record a process, or a command from its first instruction to its end. Uses "
        "the tidscope that runs here if TIDSCOPE_TOKEN is its token, and else one of its own for "
        "that time. A command has its standard input, writes as it would (into pipes), and its "
        "exit code is ours: 128 + N where signal N ended it, 125 where tidscope failed.",
    )
    parser.add_argument("--pid", type=int, help="of the process")
    parser.add_argument("--duration", type=_seconds, metavar="SECONDS", help="end after so long")
    parser.add_argument("--name", help="of the run")
    parser.add_argument("--tag", action="append", default=[], help="a label; more than once")
    parser.add_argument("--group", help="runs of one group are repeats of one another")
    parser.add_argument("--notes", help="what else is to be known of it")
    parser.add_argument("--rate", type=float, metavar="HZ", help="samples a second (10)")
    parser.add_argument(
        "--past",
        type=_seconds,
        metavar="SECONDS",
        help="with --pid: keep what was before, too, as far as a running tidscope has it",
    )
    parser.add_argument("--host", default=DEFAULT_HOST, help="of a running tidscope (%(default)s)")
    parser.add_argument(
        "--port", type=port, default=DEFAULT_PORT, help="of a running tidscope (%(default)s)"
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="the manifest as a line of JSON: on standard output, with a command on standard error",
    )
    options = parser.parse_args(own)
    options.command = command
    if (options.pid is None) == (not command):
        parser.error("say what to record: --pid PID, or -- COMMAND")
    if command and (options.duration is not None or options.past is not None):
        parser.error("--duration and --past go with --pid; a command is recorded until it ends")
    return options


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 31_536_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return value
