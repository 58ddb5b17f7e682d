"""One run of a command, timed from its first instruction to its exit, apart from the terminal."""

import os
import select
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from resource import struct_rusage

from tidscope_wire.redaction import redact

from tidscope_backend.cli.held_child import HeldChild, Surroundings, spawn_held
from tidscope_backend.cli.interrupts import held_interrupts
from tidscope_backend.cli.output_relay import STANDARD_ERROR, STANDARD_OUTPUT, OutputRelay
from tidscope_backend.cli.relay import CommandExit
from tidscope_backend.experiments.program import exit_text
from tidscope_backend.experiments.workload import RepeatError

SHOWN_LINES, SHOWN_CHARACTERS = 10, 2000
"""How much is shown of the output of a command that failed: its end."""


@contextmanager
def held_command(command: Sequence[str], surroundings: Surroundings) -> Iterator[HeldChild]:
    """Start a command, held before its first instruction; nothing of it is left afterwards.

    Standard output and error go through one pipe. All processes of the command's group are killed
    at the end, so that none disturbs the next run.

    Raises:
        CommandError: the command cannot be started.
    """
    child: HeldChild | None = None
    try:
        with held_interrupts():
            outputs = [(STANDARD_OUTPUT, STANDARD_ERROR)]
            child = spawn_held(command, outputs, surroundings=surroundings)
        yield child
    finally:
        if child is not None:
            _end(child)


def run_held(child: HeldChild, timeout_s: float) -> CommandExit:
    """Release a held command and wait for its exit.

    Raises:
        RepeatError: the command did not end within the time.
    """
    null = os.open(os.devnull, os.O_WRONLY)
    relay = OutputRelay(dict.fromkeys(child.pipes, null), outlived=False)
    child.pipes.clear()  # The relay closes them.
    pidfd = os.pidfd_open(child.pid)
    exited = select.poll()
    exited.register(pidfd, select.POLLIN)
    relay.start()
    try:
        started = time.monotonic()
        child.release()
        has_exited = bool(exited.poll(timeout_s * 1000))
        elapsed_s = time.monotonic() - started
    finally:
        with held_interrupts():
            status, usage = _reap(child)
            relay.command_exited()
            relayed = select.poll()
            relayed.register(relay, select.POLLIN)
            relayed.poll()
            relay.close()
            os.close(pidfd)
            os.close(null)
    if not has_exited:
        raise RepeatError(f"did not end within {timeout_s:g} s")
    return CommandExit(status, usage, None, elapsed_s, relay.tail)


def check_exit(ended: CommandExit) -> None:
    """Check that a command succeeded. Raises RepeatError with the end of its output."""
    if ended.status == 0:
        return
    code = os.waitstatus_to_exitcode(ended.status)
    said = "" if ended.tail is None else redact(ended.tail.text()).strip()[-SHOWN_CHARACTERS:]
    lines = said.splitlines()[-SHOWN_LINES:]
    shown = "; it wrote nothing" if not lines else "; its output ends:\n" + "\n".join(lines)
    raise RepeatError(f"{exit_text(code)}{shown}")


def _end(child: HeldChild) -> None:
    """Kill and reap what is left of a command."""
    with held_interrupts():
        for pipe in child.pipes:
            os.close(pipe)
        child.pipes.clear()
        if child.pid:
            _reap(child)


def _reap(child: HeldChild) -> tuple[int, struct_rusage]:
    """Kill the child's process group, and return the child's status and resource usage.

    The group is killed first: the ID of an unreaped child's group cannot be another group's yet.
    """
    with suppress(ProcessLookupError):
        os.killpg(os.getpgid(child.pid), signal.SIGKILL)
    _, status, usage = os.wait4(child.pid, 0)
    child.pid = 0
    return status, usage
