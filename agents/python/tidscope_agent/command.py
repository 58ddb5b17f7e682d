"""Lets tidscope steer a pool of another program: python3 -m tidscope_agent.command FILE

It is an agent like any other: a collector reads and sets the size through it, with a lease, and it
restores the size that it found. What it runs is in the file alone (command_file.py).
"""

import argparse
import contextlib
import os
import pwd
import re
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from tidscope_agent.agent import start
from tidscope_agent.command_file import Command, CommandFileError, CommandKnob, load
from tidscope_agent.protocol import COMMAND, FailureError
from tidscope_agent.workers import Counts

MAX_OUTPUT = 64 << 10
"""Maximum output of a command, in bytes; one that prints more is killed."""
RETRY_S = 1.0
"""Time between tries to set a size that could not be set, in seconds."""


class CommandPool:
    """A pool of another program.

    Args:
        knob: its commands.

    Raises:
        FailureError: the size or the operations cannot be read.
    """

    knob: Literal["pool"] = "pool"

    def __init__(self, knob: CommandKnob) -> None:
        self._knob = knob
        self._lock = threading.Lock()
        self._failure = ""
        self.line = knob.line
        self.wanted = 0
        self.wanted = self.counts().size

    def resize(self, size: int) -> None:
        """Set the size. A failure is tried again until it works, and reported by `counts`."""
        with self._lock:
            if size == self.wanted and not self._failure:
                return
            self.wanted = size
            had_failed = bool(self._failure)
            self._set()
            if self._failure and not had_failed:
                threading.Thread(target=self._retry, name="tidscope-retry", daemon=True).start()

    def counts(self) -> Counts:
        """Return operations and size.

        Raises:
            FailureError: a command failed.
        """
        with self._lock:
            if self._failure:
                raise FailureError(COMMAND, self._failure)
            commands = (self._knob.read, self._knob.count)
            try:
                texts = run([one.arguments for one in commands], self._knob.timeout_s)
                size, *_ = numbers(self._knob.read, texts[0])
                ops = sum(numbers(self._knob.count, texts[1]))
            except CommandError as error:
                raise FailureError(COMMAND, str(error)) from error
        return Counts(int(ops), None, None, max(1, int(size)))

    @property
    def failure(self) -> str:
        """Why the wanted size is not set; empty if it is."""
        return self._failure

    def _set(self) -> None:
        try:
            run([self._knob.command(self.wanted)], self._knob.timeout_s)
            self._failure = ""
        except CommandError as error:
            self._failure = str(error)
            print(f"size {self.wanted} is not set: {error}", file=sys.stderr, flush=True)

    def _retry(self) -> None:
        while True:
            time.sleep(RETRY_S)
            with self._lock:
                self._set()
                if not self._failure:
                    return


class CommandError(Exception):
    """A command failed; the text says how."""


def numbers(command: Command, text: str) -> list[float]:
    """Return the numbers in the output of a command, at least one.

    Raises:
        CommandError: there is none.
    """
    found = [text.strip()] if command.match is None else command.match.findall(text)
    try:
        values = [float(each) for each in found]
    except ValueError:
        values = []
    if not values or not all(0 <= value < 2**63 for value in values):
        raise CommandError(f"{command.arguments[0]} prints no number that is expected")
    return values


def run(commands: Sequence[Sequence[str]], timeout_s: float) -> list[str]:
    """Run commands side by side, without a shell. Return what each prints.

    Args:
        commands: programs with their arguments.
        timeout_s: time after which those that still run are killed, with their children.

    Raises:
        CommandError: one cannot be started, fails, takes too long or prints too much.
    """
    deadline = time.monotonic() + timeout_s
    running: list[subprocess.Popen[bytes]] = []
    try:
        for command in commands:
            try:
                running.append(
                    subprocess.Popen(
                        command,
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE,
                        start_new_session=True,
                    )
                )
            except OSError as error:
                raise CommandError(f"{command[0]}: {error.strerror}") from error
        said = _read(running, deadline)
        for one, errors in zip(running, said[1::2], strict=True):
            _end(one, errors, deadline)
        return [text.decode(errors="replace") for text in said[::2]]
    finally:
        for one in running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(one.pid, signal.SIGKILL)
            one.wait()
            for pipe in (one.stdout, one.stderr):
                if pipe is not None:
                    pipe.close()


def _end(one: "subprocess.Popen[bytes]", errors: bytes, deadline: float) -> None:
    """Wait for the end of a command whose output has ended."""
    name = _name(one)
    try:
        code = one.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired as error:
        raise CommandError(f"{name} takes too long") from error
    if code:
        first = errors.decode(errors="replace").strip().partition("\n")[0]
        raise CommandError(f"{name} ended with {code}: {re.sub('[^ -~]', '?', first)[:200]}")


def _read(running: Sequence["subprocess.Popen[bytes]"], deadline: float) -> list[bytes]:
    """Return what commands print: output and errors of each in turn."""
    pipes = [pipe for one in running for pipe in (one.stdout, one.stderr) if pipe is not None]
    said = [bytearray() for _ in pipes]
    with selectors.DefaultSelector() as selector:
        for at, pipe in enumerate(pipes):
            selector.register(pipe, selectors.EVENT_READ, at)
        while selector.get_map():
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                left = min(key.data for key in selector.get_map().values())
                raise CommandError(f"{_name(running[left // 2])} takes too long")
            for key, _ in ready:
                piece = os.read(key.fd, MAX_OUTPUT)
                said[key.data] += piece
                if len(said[key.data]) > MAX_OUTPUT:
                    raise CommandError(f"{_name(running[key.data // 2])} prints too much")
                if not piece:
                    selector.unregister(key.fileobj)
    return [bytes(each) for each in said]


def _name(one: "subprocess.Popen[bytes]") -> str:
    return str(one.args[0]) if isinstance(one.args, (list, tuple)) else str(one.args)


def become(user: str) -> None:
    """Give up root for a user, and leave a folder that this user may not enter.

    Raises:
        CommandFileError: root is kept, or there is no such user.
    """
    if os.geteuid() != 0:
        if user and user != pwd.getpwuid(os.geteuid()).pw_name:
            raise CommandFileError(f"only root can become the user {user}")
        return
    try:
        found = pwd.getpwnam(user)
    except KeyError as error:
        raise CommandFileError("root must name another user in the file: user = …") from error
    if found.pw_uid == 0:
        raise CommandFileError("commands are not run as root: name another user in the file")
    os.initgroups(user, found.pw_gid)
    os.setgid(found.pw_gid)
    os.setuid(found.pw_uid)
    os.environ["HOME"] = found.pw_dir
    os.chdir("/")


def main() -> int:
    """Run until SIGTERM or SIGINT, and restore the size."""
    parser = argparse.ArgumentParser(prog="tidscope_agent.command", description=__doc__)
    parser.add_argument("file", type=Path, help="file with the commands")
    path = parser.parse_args().file
    ends = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    try:
        knob = load(path)
        become(knob.user)
        pool = CommandPool(knob)
        agent = start(pool, lower=knob.lower, upper=knob.upper)
    except (CommandFileError, FailureError, ValueError, RuntimeError) as error:
        print(
            f"{path.name}: {error}" if isinstance(error, FailureError) else error, file=sys.stderr
        )
        return 2
    print(f"ready {agent.path}", flush=True)
    signal.sigwait(ends)
    agent.close()
    return 1 if pool.failure else 0


if __name__ == "__main__":
    sys.exit(main())
