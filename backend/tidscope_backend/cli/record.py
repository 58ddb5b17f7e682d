"""`tidscope record`: record a process or a command without a browser."""

import argparse
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from tidscope_wire.generated.models import (
    AttachRequest,
    RunManifest,
    RunPatch,
    RunResult,
    Target,
)

from tidscope_backend.cli.attach import (
    CHOICES,
    add_target_options,
    required_request,
    target_request,
)
from tidscope_backend.cli.backend_client import RefusedError, UnavailableError, UntrustedError
from tidscope_backend.cli.command import Command, CommandError, ProgressLine, print_lines
from tidscope_backend.cli.held_child import OWN_FAILURE, HeldChild, Outputs, spawn_held
from tidscope_backend.cli.output_relay import (
    ARGUMENTS_VARIABLE,
    OUTPUT_VARIABLE,
    Keeping,
    kept_by_default,
    relayed_outputs,
)
from tidscope_backend.cli.recording_client import RecordingOptions, RunRecorder, tree_request
from tidscope_backend.cli.relay import interrupted_twice, relay_until_exit
from tidscope_backend.cli.run_recorders import open_recorder
from tidscope_backend.cli.run_report import report
from tidscope_backend.cli.run_text import progress, summary
from tidscope_backend.cli.server_options import (
    add_backend_options,
    add_ledger_options,
    add_source_option,
    duration,
    ledger_arguments,
    user_runs_directory,
)
from tidscope_backend.patterns import pattern
from tidscope_backend.processes import start_ticks
from tidscope_backend.run_results import MAX_RESULTS, metric, results_of
from tidscope_backend.settings import BROWSER_VARIABLE
from tidscope_backend.store.folder import RunFolder

TICK_SECONDS = 0.5
FINISHING = "tidscope record: the command has exited; interrupt again to leave its run unfinished"


def _run(options: argparse.Namespace) -> int:
    """Record and print a summary."""
    try:
        runs = user_runs_directory(os.environ)
        child = spawn_held(options.command, _outputs(options)) if options.command else None
        try:
            with open_recorder(runs, _recording_options(options), options) as recorder:
                if child is None:
                    manifest = _record_process(recorder, options)
                    _print_result(recorder, runs, manifest, options, sys.stdout)
                    return 0
                return _record_command(recorder, runs, child, options)
        finally:
            if child is not None:
                child.kill_if_held()
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except (RefusedError, UnavailableError, UntrustedError) as error:
        raise CommandError(str(error), OWN_FAILURE if options.command else 1) from None
    except CommandError as error:
        own = bool(options.command) and error.code == 1
        raise CommandError(str(error), OWN_FAILURE if own else error.code) from None


def _record_process(recorder: RunRecorder, options: argparse.Namespace) -> RunManifest:
    """Record until the process exits, a signal arrives, or the time is up."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    before = recorder.attached()
    target = recorder.attach(options.asked)
    line = ProgressLine(shown=sys.stderr.isatty() and not options.json)
    results = _results(options, None)
    try:
        manifest = recorder.start(target)
        while manifest.state == "recording" and not stop.wait(TICK_SECONDS):
            manifest = recorder.manifest(manifest)
            line.show(progress(manifest))
        if manifest.state == "recording":
            manifest = recorder.stop(manifest)
        return recorder.patch(manifest, RunPatch(results=results)) if results else manifest
    finally:
        line.clear()
        if target.id not in before:
            _detach(recorder, target)


def _detach(recorder: RunRecorder, target: Target) -> None:
    """Stop sampling; a failure must not suppress the run's summary."""
    try:
        recorder.detach(target)
    except (RefusedError, UnavailableError) as error:
        print_lines(f"tidscope record: not detached: {error}", file=sys.stderr, flush=True)


def _record_command(
    recorder: RunRecorder,
    runs: Path,
    child: HeldChild,
    options: argparse.Namespace,
) -> int:
    """Record a held command from its first instruction to its exit.

    The terminal belongs to the command, so nothing is printed meanwhile.
    """
    asked = (
        tree_request(child.pid)
        if options.children
        else AttachRequest(pid=child.pid, start_ticks=start_ticks(child.pid))
    )
    manifest = recorder.start(recorder.attach(asked))
    with interrupted_twice(FINISHING):
        ended = relay_until_exit(child)
        # The caller gets the command's exit code in any case.
        try:
            ran = recorder.wait_for_end(manifest)
            keeping: Keeping = options.keeping
            outcome = ended.outcome(
                keeping.argument_list(options.command), keeping.output_text(ended.tail)
            )
            if ran.target.group is not None:
                # The run includes the children's CPU time.
                outcome = outcome.model_copy(update={"children_cpu_us": None})
            results = _results(options, None if ended.tail is None else ended.tail.text())
            manifest = recorder.patch(ran, RunPatch(outcome=outcome, results=results))
            _print_result(recorder, runs, manifest, options, sys.stderr)
        except (RefusedError, UnavailableError, UntrustedError) as error:
            _say_incomplete(str(error))
        except KeyboardInterrupt:
            _say_incomplete("interrupted")
    return ended.code


def _results(options: argparse.Namespace, output: str | None) -> list[RunResult]:
    """Return the run's results; say of others why they are missing."""
    found, missing = results_of(options.metric, output)
    for line in missing:
        print_lines(f"tidscope record: {line}", file=sys.stderr, flush=True)
    return found


def _say_incomplete(reason: str) -> None:
    print_lines(f"tidscope record: the recording was not completed: {reason}", file=sys.stderr)


def _print_result(
    recorder: RunRecorder,
    runs: Path,
    manifest: RunManifest,
    options: argparse.Namespace,
    file: TextIO,
) -> None:
    """Print the result; without access to the runs directory, only the manifest's content."""
    recorder.seal()
    folder = RunFolder(runs / manifest.id)
    here = folder.manifest.exists()
    if here:
        manifest = folder.read_manifest()
    found = report(folder) if here and not options.json else None
    address = f"{options.host}:{options.port}"
    lines = [manifest.model_dump_json()] if options.json else summary(manifest, found, address)
    print_lines(*lines, file=file, flush=True)


def _outputs(options: argparse.Namespace) -> Outputs:
    searched = any(one.pattern for one in options.metric)
    return relayed_outputs(
        keep=options.keeping.output or searched, terminals=options.output is True or searched
    )


def _recording_options(options: argparse.Namespace) -> RecordingOptions:
    return RecordingOptions(
        name=options.name,
        tags=options.tag,
        group=options.group,
        notes=options.notes,
        rate_hz=options.rate,
        past_s=options.past,
        duration_s=options.duration,
        keeping=options.keeping,
        source=options.source,
        ledger=ledger_arguments(options),
        stacks=options.stacks,
    )


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_target_options(parser, what="to record", required=False)
    parser.add_argument(
        "--children",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="record the command's descendants, too (default); --no-children: its process alone",
    )
    parser.add_argument(
        "--duration",
        type=duration,
        metavar="SECONDS",
        help="without a command: stop after this time",
    )
    parser.add_argument("--name", help="name of the run (default: the process's name)")
    parser.add_argument("--tag", action="append", default=[], help="tag of the run (repeatable)")
    parser.add_argument("--group", help="group of repeats that this run belongs to")
    parser.add_argument("--notes", help="notes stored with the run")
    parser.add_argument(
        "--metric",
        type=metric,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a result of the run, with which comparisons begin (repeatable): NAME=/REGEX/ takes "
        "it from the end of the command's output, the last match's only group; NAME:more or "
        "NAME:less says which way is better; ops is the number of operations",
    )
    parser.add_argument("--rate", type=float, metavar="HZ", help="sampling rate in Hz (10)")
    parser.add_argument(
        "--past",
        type=duration,
        metavar="SECONDS",
        help="without a command: include the last seconds that a running tidscope has kept",
    )
    parser.add_argument(
        "--stacks", action="store_true", help="take stacks, too: where in the code threads wait"
    )
    parser.add_argument(
        "--arguments",
        action=argparse.BooleanOptionalAction,
        help="store the process's arguments, what looks like a secret left out "
        f"(default: unless {ARGUMENTS_VARIABLE} is no)",
    )
    parser.add_argument(
        "--output",
        action=argparse.BooleanOptionalAction,
        help="store the end of the command's output, what looks like a secret left out; the "
        "command then writes to pipes (default: of output that goes to no terminal, unless "
        f"{OUTPUT_VARIABLE} is no)",
    )
    parser.add_argument(
        "--redact",
        action="append",
        default=[],
        metavar="REGEX",
        help="leave what matches out of stored arguments and output, too (repeatable)",
    )
    add_source_option(parser, "without a running tidscope: ")
    add_ledger_options(parser, "without a running tidscope: ")
    add_backend_options(parser)
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the run's manifest as one line of JSON: to standard error with a command, else "
        "to standard output",
    )


def _parse(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments; everything after -- is the command."""
    own, command = list(arguments), list[str]()
    if "--" in own:
        place = own.index("--")
        own, command = own[:place], own[place + 1 :]
    options = parser.parse_args(own)
    options.command = command
    options.keeping = _keeping(parser, options)
    if len(options.metric) > MAX_RESULTS:
        parser.error(f"--metric may be given {MAX_RESULTS} times")
    if not command and any(one.pattern for one in options.metric):
        parser.error("--metric NAME=/REGEX/ is for the output of -- COMMAND")
    options.asked = None if command else required_request(parser, options)
    if command and target_request(options) is not None:
        parser.error(f"give either one of {CHOICES}, or -- COMMAND")
    if command and (options.duration is not None or options.past is not None):
        parser.error("--duration and --past are not for commands, which are recorded to their exit")
    return options


def _keeping(parser: argparse.ArgumentParser, options: argparse.Namespace) -> Keeping:
    arguments, output = (
        kept_by_default(os.environ, variable) if given is None else bool(given)
        for given, variable in (
            (options.arguments, ARGUMENTS_VARIABLE),
            (options.output, OUTPUT_VARIABLE),
        )
    )
    try:
        patterns = [pattern(text) for text in options.redact]
    except ValueError as error:
        parser.error(f"--redact: {error}")
    return Keeping(arguments, output, patterns)


COMMAND = Command(
    name="record",
    help="record a process or a group of them, or a command from start to exit",
    usage="tidscope record [options] (--pid PID | --tree PID | --cgroup PATH | --unit NAME | "
    "--container NAME | --match EXPRESSION | -- COMMAND [ARGUMENT ...])",
    description="Record a process, a group of processes, or a command from its first instruction "
    "to its exit, with its descendants (--no-children: without). Uses a running tidscope of the "
    f"same user, or the one whose token {BROWSER_VARIABLE} holds, otherwise records by itself. The "
    "command keeps the terminal, and gets the signals that record gets. Output that goes to no "
    "terminal passes through pipes. record exits with the command's exit code: 128 + N if signal N "
    "killed it, 125 if tidscope itself failed.",
    add_arguments=_add_arguments,
    run=_run,
    parse=_parse,
)
