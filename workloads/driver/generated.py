"""A workload run by another program, measured by that program's final report."""

import contextlib
import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

# Also on a killed experiment, started programs end and written files are removed.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


def started(
    command: Sequence[str],
    *,
    variables: Mapping[str, str] | None = None,
    user: str | None = None,
    death: signal.Signals = signal.SIGKILL,
) -> "subprocess.Popen[str]":
    """Start a program that is killed when this process dies.

    Args:
        command: arguments of the program.
        variables: variables of its environment, beside ours.
        user: name of the user that it runs as; None for the current one.
        death: signal sent to it when this process dies.
    """
    how = ["setpriv", f"--pdeathsig={death.name.removeprefix('SIG')}"]
    if user is not None:
        how += [f"--reuid={user}", f"--regid={user}", "--init-groups"]
    return subprocess.Popen(
        [*how, *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(variables or {})},
    )


def output_of(process: "subprocess.Popen[str]") -> str:
    """Return the output of a successful program; exit with its error output otherwise."""
    out, errors = process.communicate()
    if process.returncode != 0:
        said = (errors.strip() or out.strip())[-1000:]
        sys.exit(f"{name_of(process)} ended with exit code {process.returncode}: {said}")
    return out


def name_of(process: "subprocess.Popen[str]") -> str:
    """The program started by setpriv."""
    words = list(process.args) if isinstance(process.args, list) else []
    return next((Path(one).name for one in words[1:] if one[:2] != "--"), "a program")


def whole_seconds(seconds: float) -> int:
    """Seconds rounded up to a positive integer, which load generators require."""
    return max(1, math.ceil(seconds))


def serve(
    start: Callable[[], "subprocess.Popen[str]"],
    figures: Callable[[str], Mapping[str, float]],
) -> None:
    """Answer the lines of an experiment: what is started at `begin` has ended at `end`.

    Args:
        start: starts the program; it runs for the time that is measured.
        figures: parses its output.
    """
    print(json.dumps({"ready": ""}), flush=True)
    running: subprocess.Popen[str] | None = None
    for line in sys.stdin:
        if line == "begin\n":
            running = start()
            print("{}", flush=True)
        elif line == "end\n" and running is not None:
            print(json.dumps(figures(output_of(running))), flush=True)
            running = None
        else:
            sys.exit(f"{line!r} is neither begin nor the end of it")
    if running is not None:
        with contextlib.suppress(ProcessLookupError):
            running.kill()
        running.wait()
