"""`tidscope stacks`: where in the code threads wait, run, release and hold."""

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

from tidscope_wire.generated.models import AttachRequest, StackGraph, Target, TargetsResponse
from tidscope_wire.loading import loading

from tidscope_backend.cli.attach import add_target_options, required_request, target_request
from tidscope_backend.cli.backend_client import (
    BackendClient,
    RefusedError,
    UnavailableError,
    UntrustedError,
    known_token,
)
from tidscope_backend.cli.collect import warn_if_others_may_change_it
from tidscope_backend.cli.command import Command, CommandError, ProgressLine, print_lines
from tidscope_backend.cli.output_relay import Keeping
from tidscope_backend.cli.recording_client import RecordingOptions
from tidscope_backend.cli.relay import blocked_signals
from tidscope_backend.cli.server_options import (
    add_backend_options,
    add_runs_dir_option,
    chosen_runs_directory,
    duration,
)
from tidscope_backend.cli.stacks_text import THRESHOLD_PERCENT, folded_lines, tree_lines
from tidscope_backend.settings import BROWSER_VARIABLE

SECONDS = 5.0
LEASE_MORE_SECONDS = 15.0
"""Length of the lease beyond the window, in seconds: ends of stays are reported a little later."""
PATIENCE_SECONDS = 20.0
"""How long the first and the last stacks are awaited, in seconds."""
NAMES_SECONDS = 3.0
"""How long names of native code are awaited, in seconds: they come up to two seconds later."""
POLL_SECONDS = 0.25
TICK_SECONDS = 0.1


def _run(options: argparse.Namespace) -> int:
    """Take stacks and print them."""
    try:
        found = _of_target(options) if options.run_name is None else _of_run(options)
    except (RefusedError, UnavailableError, UntrustedError) as error:
        raise CommandError(str(error)) from None
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    if options.json:
        print_lines(found.model_dump_json())
    elif options.folded:
        print_lines(*folded_lines(found))
    else:
        print_lines(*tree_lines(found, _what(options), options.threshold / 100))
    return 1 if found.reason else 0


def _what(options: argparse.Namespace) -> str:
    states = ", ".join(options.state) or "all states"
    what = f"lock {options.lock}" if options.lock else states
    sides = {"threads": "", "releasers": ", by who released", "holders": ", by who held"}
    return what + sides[options.side]


def _of_target(options: argparse.Namespace) -> StackGraph:
    """Take stacks by a running tidscope whose token is known, or by an own collector."""
    token = known_token(options)
    if token:
        with BackendClient(f"{options.host}:{options.port}", token) as backend:
            return _by_backend(backend, options)
    with tempfile.TemporaryDirectory(prefix="tidscope-") as folder:
        return _by_recording(Path(folder), options)


def _by_backend(backend: BackendClient, options: argparse.Namespace) -> StackGraph:
    targets = backend.request_model("/targets", TargetsResponse).targets
    before = {target.id for target in targets if target.state == "attached"}
    asked: AttachRequest = options.asked
    body = asked.model_dump(exclude_none=True, exclude={"rate_hz"})
    target = backend.request_model("/targets", Target, "POST", body)
    path = f"/targets/{target.id}/stacks"
    try:
        lease = {"seconds": options.seconds + LEASE_MORE_SECONDS}
        backend.request_model(path, Target, "POST", lease)

        def ask(**window: int) -> StackGraph:
            return backend.request_model(f"{path}?{_query(options, window)}", StackGraph)

        begin = _until(ask, lambda graph: graph.to_ns > 0).to_ns
        end = begin + int(options.seconds * 1e9)
        _wait(options.seconds)
        _until(ask, lambda graph: graph.to_ns >= end)
        found = partial(ask, from_ns=begin, to_ns=end)
        return _until(found, _is_named, NAMES_SECONDS)
    finally:
        if target.id not in before:
            backend.request(f"/targets/{target.id}", "DELETE")


def _is_named(graph: StackGraph) -> bool:
    return all(frame.named for frame in graph.frames)


def _until(
    ask: Callable[[], StackGraph],
    enough: Callable[[StackGraph], bool],
    patience_s: float = PATIENCE_SECONDS,
) -> StackGraph:
    """Ask again, with a timeout, until an answer meets a condition."""
    end_s = time.monotonic() + patience_s
    while not enough(found := ask()) and time.monotonic() < end_s:
        time.sleep(POLL_SECONDS)
    return found


def _query(options: argparse.Namespace, window: dict[str, int]) -> str:
    asked = [("state", one) for one in options.state] + [("role", one) for one in options.role]
    asked += [("tid", str(one)) for one in options.thread]
    asked += [("lock", options.lock)] if options.lock else []
    asked += [(name, str(ns)) for name, ns in window.items()]
    return urlencode([*asked, ("side", options.side)])


def _wait(seconds: float) -> None:
    """Wait, and show how long it lasts."""
    line = ProgressLine(shown=sys.stderr.isatty())
    end_s = time.monotonic() + seconds
    while (left := end_s - time.monotonic()) > 0:
        line.show(f"taking stacks for another {left:.0f} s")
        time.sleep(min(TICK_SECONDS, left))
    line.clear()


def _by_recording(folder: Path, options: argparse.Namespace) -> StackGraph:
    """Record a run with stacks into a temporary folder."""
    with loading(), blocked_signals():
        from tidscope_backend.cli.local_recorder import LocalRecorder

    warn_if_others_may_change_it()
    what = RecordingOptions(
        *(None, [], None, None, None, None, None),
        Keeping(arguments=False, output=False, patterns=[]),
        stacks=True,
    )
    with LocalRecorder(folder, what, None) as recorder:
        target = recorder.attach(options.asked)
        manifest = recorder.start(target)

        def record(seconds: float, enough: Callable[[], bool] = lambda: False) -> int:
            """Record for so long; return when the run ends by then, since attach."""
            nonlocal manifest
            end_s = time.monotonic() + seconds
            while manifest.state == "recording" and time.monotonic() < end_s and not enough():
                time.sleep(TICK_SECONDS)
                manifest = recorder.manifest(manifest)
            return manifest.to_ns

        begin = record(PATIENCE_SECONDS, lambda: _is_decided(recorder.current(target)))
        end = record(options.seconds)
        record(NAMES_SECONDS)
        if manifest.state == "recording":
            manifest = recorder.stop(manifest)
        recorder.seal()
    first = manifest.from_ns
    window = ((begin - first) / 1e9, (end - first) / 1e9)
    return _graph_of(folder / manifest.id, window, options)


def _is_decided(target: Target) -> bool:
    """Return True once stacks are taken, or cannot be."""
    sampling = target.stacks
    return sampling is None or sampling.trigger != "none" or bool(sampling.reason)


def _of_run(options: argparse.Namespace) -> StackGraph:
    from tidscope_backend.comparison.sides import ComparisonError, split_window
    from tidscope_backend.store.directory import RunNotFoundError, find_run

    try:
        called, window = split_window(options.run_name)
        path = find_run(chosen_runs_directory(options), called)
        edges = None if window is None else (window.from_s, window.to_s)
        return _graph_of(path, edges, options)
    except (RunNotFoundError, ComparisonError, OSError, ValueError) as error:
        raise CommandError(str(error)) from None


def _graph_of(
    path: Path, window_s: tuple[float, float] | None, options: argparse.Namespace
) -> StackGraph:
    """Return the flame graph of a run, or of a window in seconds since its start."""
    from tidscope_wire.problems import ProblemError

    from tidscope_backend.stacks.selection import Selection, Window
    from tidscope_backend.stacks.service import graph
    from tidscope_backend.stacks.sources import RunSource
    from tidscope_backend.store.reader import RunReader

    reader = RunReader(path)
    first, last = reader.manifest.from_ns, reader.manifest.to_ns
    edges = (first, last)
    if window_s is not None:
        begin, end = (first + int(edge * 1e9) for edge in window_s)
        edges = (begin, min(end, last))
    lock: int | str | None = options.lock
    if options.lock and options.lock.isdigit():
        lock = int(options.lock)
    selection = Selection(
        Window(*edges),
        frozenset(options.thread),
        frozenset(options.role),
        frozenset(options.state),
        lock,
        options.side,
    )
    try:
        selection.check()
        return graph(RunSource(reader), selection)
    except ProblemError as error:
        raise CommandError(f"{error.problem.detail}; {error.problem.hint}") from None


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_target_options(parser, what="to take stacks of", required=False)
    parser.add_argument(
        "--run",
        dest="run_name",
        metavar="RUN[@FROM-TO]",
        help="stacks of a recorded run instead, of all of it or of a window in seconds",
    )
    add_runs_dir_option(parser)
    parser.add_argument(
        "--seconds",
        type=duration,
        default=SECONDS,
        metavar="S",
        help="take stacks for this time (%(default)g)",
    )
    parser.add_argument(
        "--state",
        action="append",
        default=[],
        metavar="STATE",
        help="time in this state alone, such as futex, poll or on_cpu (repeatable)",
    )
    parser.add_argument(
        "--lock", metavar="NAME", help="waits for this lock alone: its name or number"
    )
    parser.add_argument(
        "--role", action="append", default=[], help="threads of this role alone (repeatable)"
    )
    parser.add_argument(
        "--thread",
        action="append",
        default=[],
        type=int,
        metavar="TID",
        help="this thread alone (repeatable)",
    )
    parser.add_argument(
        "--side",
        choices=("threads", "releasers", "holders"),
        default="threads",
        help="stacks of the threads, of those that ended their waits, or of what those did "
        "meanwhile (%(default)s)",
    )
    parser.add_argument(
        "--threshold",
        type=duration,
        default=THRESHOLD_PERCENT,
        metavar="PERCENT",
        help="hide code with less of the time (%(default)g)",
    )
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--folded", action="store_true", help="print folded stacks")
    shape.add_argument("--json", action="store_true", help="print the flame graph as JSON")
    add_backend_options(parser)


def _parse(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    options = parser.parse_args(arguments)
    if options.run_name is None:
        options.asked = required_request(parser, options)
        if not options.seconds:
            parser.error("--seconds has to be more than 0")
    elif target_request(options) is not None:
        parser.error("give either --run or a process")
    return options


COMMAND = Command(
    name="stacks",
    help="show where in the code threads wait and run",
    description="Take stacks of a process for some seconds, or read those of a run, and print "
    "where in the code its threads spent their time: seconds measured by the ledger, divided by "
    "sampled stays, with 95 % intervals. Uses a running tidscope of the same user, or the one "
    f"whose token {BROWSER_VARIABLE} holds, otherwise its own collector.",
    add_arguments=_add_arguments,
    run=_run,
    parse=_parse,
)
