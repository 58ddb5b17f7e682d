"""Relay of a command's output through pipes, without delay, to its original destination.

A terminal stays connected to the command, which may set its modes and size. Of other outputs the
end is kept. Processes that outlive the command continue to write.
"""

import os
import select
import signal
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tidscope_wire.redaction import MARGIN, REDACTED, redact, redact_arguments

from tidscope_backend.cli.held_child import Outputs
from tidscope_backend.patterns import PatternError, replaced

TAIL_BYTES = 16 * 1024
CHUNK = 64 * 1024
STANDARD_OUTPUT, STANDARD_ERROR = 1, 2


class OutputTail:
    """The end of the output, and the total number of bytes."""

    def __init__(self, keep: int = TAIL_BYTES + MARGIN) -> None:
        self._keep = keep
        self._chunks: deque[bytes] = deque()
        self._held = 0
        self._lock = threading.Lock()
        self.total = 0

    def append(self, data: bytes) -> None:
        """Append output."""
        with self._lock:
            self.total += len(data)
            self._chunks.append(data)
            self._held += len(data)
            while self._held - len(self._chunks[0]) >= self._keep:
                self._held -= len(self._chunks.popleft())

    @property
    def cut(self) -> bool:
        """Return True if the kept end is not the complete output."""
        return self.total > self._keep

    def text(self) -> str:
        """Return the kept end as text."""
        return b"".join(self._chunks)[-self._keep :].decode(errors="replace")


def relayed_outputs(*, keep: bool, terminals: bool = False) -> Outputs:
    """Choose the outputs for which a command gets pipes.

    Args:
        keep: whether the end of the output is kept.
        terminals: whether outputs to a terminal are also kept; the command then sees no terminal.

    Returns:
        Outputs with the same destination share one pipe, which keeps their order.
    """
    places = {
        descriptor: os.fstat(descriptor)
        for descriptor in (STANDARD_OUTPUT, STANDARD_ERROR)
        if keep and _is_open(descriptor) and (terminals or not os.isatty(descriptor))
    }
    if len(places) > 1 and os.path.samestat(*places.values()):
        return [tuple(places)]
    return [(descriptor,) for descriptor in places]


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


class OutputRelay:
    """Relays in separate threads, so that a slow reader blocks nothing else.

    A selector can wait for the relay: it is readable once all output is relayed.

    Args:
        pipes: read end of each pipe, to the descriptor of its destination.
        outlived: whether processes that outlive the command can go on writing.
    """

    def __init__(self, pipes: Mapping[int, int], *, outlived: bool = True) -> None:
        self.tail = OutputTail()
        self._outlived = outlived
        self._exited, self._done = os.eventfd(0), os.eventfd(0)
        self._lock = threading.Lock()
        self._at_work = len(pipes)
        self._threads = [
            threading.Thread(target=self._run, args=pipe, daemon=True) for pipe in pipes.items()
        ]

    def fileno(self) -> int:
        """Readable once all is relayed."""
        return self._done

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()
        if not self._threads:
            os.eventfd_write(self._done, 1)

    def close(self) -> None:
        """Close the descriptors of a relay whose output is all relayed."""
        os.close(self._exited)
        os.close(self._done)

    def command_exited(self) -> None:
        """Relay the rest of the output written so far."""
        os.eventfd_write(self._exited, 1)

    def _run(self, source: int, sink: int) -> None:
        try:
            self._relay(source, sink)
        except OSError:
            pass  # The reader has closed: the command gets SIGPIPE as it would without a relay.
        finally:
            os.close(source)
            with self._lock:
                self._at_work -= 1
                if not self._at_work:
                    os.eventfd_write(self._done, 1)

    def _relay(self, source: int, sink: int) -> None:
        os.set_blocking(source, False)
        readable = select.poll()
        for descriptor in (source, self._exited):
            readable.register(descriptor, select.POLLIN)
        while True:
            exited = any(ready == self._exited for ready, _ in readable.poll())
            data = _read(source)
            if data:
                self.tail.append(data)
                _write(sink, data)
            elif data is not None:
                return
            elif exited:
                if self._outlived:
                    _leave_behind(source, sink)
                return


def _read(source: int) -> bytes | None:
    """Return bytes read; empty at the end of the output, None if none are ready."""
    try:
        return os.read(source, CHUNK)
    except BlockingIOError:
        return None


def _write(sink: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(sink, view) :]
        except BlockingIOError:
            # A process that shares this descriptor may have set it non-blocking.
            os.set_blocking(sink, True)


def _leave_behind(source: int, sink: int) -> None:
    """Start cat(1) to relay the output of processes that outlive the command."""
    os.set_blocking(source, True)
    os.posix_spawnp(
        "cat",
        ["cat"],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_DUP2, source, 0), (os.POSIX_SPAWN_DUP2, sink, 1)],
        setsid=True,
        setsigmask=(),
        setsigdef=(signal.SIGPIPE,),
    )


OUTPUT_VARIABLE = "TIDSCOPE_RECORD_OUTPUT"
ARGUMENTS_VARIABLE = "TIDSCOPE_RECORD_ARGUMENTS"
NO = frozenset({"no", "0", "false", "off"})
NOT_STORED = "[not stored: the patterns of --redact took too long]"
ARGUMENTS_NOT_STORED = "[arguments not stored]"


@dataclass(frozen=True)
class Keeping:
    """Parts of a command line and output that a run stores.

    Attributes:
        arguments: whether arguments are stored; likely secrets are removed.
        output: whether the end of the output is stored; likely secrets are removed.
        patterns: regular expressions of further text to remove.
    """

    arguments: bool
    output: bool
    patterns: Sequence[str] = ()

    def command_line(self, command: str) -> str | None:
        """Return a process's command line as stored; None: as the collector reports it."""
        if not self.arguments:
            return f"{command.partition(' ')[0]} {ARGUMENTS_NOT_STORED}"
        return leave_out(self.patterns, [command])[0] if self.patterns else None

    def argument_list(self, command: Sequence[str]) -> list[str]:
        """Return a command's arguments as stored, converted to text."""
        texts = [argument.encode(errors="replace").decode() for argument in command]
        if not self.arguments:
            return texts[:1]
        return leave_out(self.patterns, redact_arguments(texts))

    def output_text(self, tail: OutputTail | None) -> str | None:
        """Return the end of a command's output as stored; None if not stored."""
        if tail is None or not self.output:
            return None
        (text,) = leave_out(self.patterns, [redact(tail.text())])
        if tail.cut:
            # A truncated secret is not recognised, so remove a first partial line.
            line_end = text.find("\n", 0, MARGIN)
            text = text[line_end + 1 :] if line_end >= 0 else text[MARGIN:]
        return text[-TAIL_BYTES:]


def leave_out(patterns: Sequence[str], texts: list[str]) -> list[str]:
    """Remove text that matches the user's patterns. On failure, none of the texts is kept."""
    if not patterns:
        return texts
    try:
        return replaced(patterns, texts, REDACTED)
    except PatternError:
        return [NOT_STORED] * len(texts)


def kept_by_default(environ: Mapping[str, str], variable: str) -> bool:
    """Return whether a setting keeps data, which is the default."""
    return environ.get(variable, "").strip().lower() not in NO
