"""Names of the native frames of one target.

    symbols = Symbols()
    symbols.ask({number: frame, ...})   # when frames are new; never waits
    for number, name in symbols.take().items():
        ...                             # names that are known since the last call

A worker thread asks limited children, one file and many addresses at a time, about once a second.
Names belong to one target: a process can claim any build ID, and what its file says must not name
frames of processes that somebody else watches.
"""

import errno
import functools
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from tidscope_collector.inspection.asking import NoAnswerError, UnreadableError
from tidscope_collector.inspection.native_name_answers import NamesAnswer, ask_native_names
from tidscope_collector.inspection.native_names import MAX_ADDRESSES
from tidscope_collector.symbols.budget import Budget
from tidscope_collector.symbols.frames import (
    NativeFrame,
    NativeName,
    name_of,
    unnamed,
)

BATCH_S = 1.0
"""Time during which frames of a file are collected before they are asked for, in seconds."""
LATER_S = 60.0
"""Time during which a process whose files do not answer is left alone, in seconds."""
MAX_WAITING = 32768
"""Maximum frames whose names are asked for or not taken; further ones are refused and counted."""
MAX_KEPT = 4096
"""Maximum names kept for frames that are asked for again."""
MAX_FILES = 1024
"""Maximum files remembered."""

_MAX_PROCESSES = 4
_NO_FILE = "No file holds this code: a program generated it, or mapped it from memory."

log = logging.getLogger("tidscope.symbols")


class Asking(Protocol):
    """Asks a child about one file; see `ask_native_names`."""

    def __call__(
        self,
        pid: int,
        start_ticks: int,
        module: str,
        build_id: str,
        addresses: Sequence[int],
        *,
        lines: bool,
    ) -> NamesAnswer:
        """Return names, or raise NoAnswerError or UnreadableError."""


class _FileKey(NamedTuple):
    """A file of the target; process and start are 0 if the build ID tells which one it is."""

    module: str
    build_id: str
    pid: int
    start_ticks: int


@dataclass(slots=True)
class _File:
    """A file with native frames.

    Attributes:
        due_s: time of the next question, on the clock.
        waiting: numbers of the frames that wait for a name, by address.
        processes: processes that map the file, the newest last.
        lines: False once its DWARF has ended a child.
    """

    due_s: float
    waiting: dict[int, list[int]] = field(default_factory=dict)
    processes: OrderedDict[tuple[int, int], None] = field(default_factory=OrderedDict)
    lines: bool = True


def _cost_s(found: tuple[NamesAnswer | None, NativeName], wall_s: float) -> float:
    """Return what an answer cost a child, in seconds of CPU time."""
    answer, name = found
    if answer is not None:
        return min(wall_s, answer.cpu_s)
    # Processes that have ended cost next to nothing. If they used up the budget, short-lived ones
    # would have ended before each question.
    return 0.1 * wall_s if name.ended else wall_s


class Symbols:
    """Names of the native frames of one target. Thread-safe.

    Args:
        asking: asks a child about one file.
        clock: monotonic time, in seconds.
        budget: time that children may take, which several targets may share; None: its own.

    Attributes:
        refused: number of frames beyond MAX_WAITING, which get no answer.
    """

    def __init__(
        self,
        asking: Asking = ask_native_names,
        clock: Callable[[], float] = time.monotonic,
        budget: Budget | None = None,
    ) -> None:
        self._asking = asking
        self._clock = clock
        self._budget = budget or Budget()
        self._files: OrderedDict[_FileKey, _File] = OrderedDict()
        self._kept: OrderedDict[tuple[_FileKey, int], NativeName] = OrderedDict()
        self._ready: dict[int, NativeName] = {}
        self._waiting = 0
        self._reasons: OrderedDict[str, str] = OrderedDict()
        self._silent: OrderedDict[tuple[int, int], float] = OrderedDict()
        self.refused = 0
        self._changed = threading.Condition()
        self._closed = False
        self._worker: threading.Thread | None = None

    def ask(self, frames: Mapping[int, NativeFrame]) -> None:
        """Ask for names without waiting. Each frame gets one answer, by `take`.

        Args:
            frames: frames by numbers of the caller's choice.
        """
        with self._changed:
            for number, frame in frames.items():
                if self._closed or self._waiting + len(self._ready) >= MAX_WAITING:
                    self.refused += 1
                else:
                    self._enter(number, frame)
            if self._waiting and self._worker is None:
                self._worker = threading.Thread(target=self._work, name="symbols", daemon=True)
                self._worker.start()
            self._changed.notify_all()

    def take(self) -> dict[int, NativeName]:
        """Return names that are known since the last call, by the numbers of their frames."""
        with self._changed:
            taken, self._ready = self._ready, {}
            return taken

    def reasons(self) -> dict[str, str]:
        """Return why frames have no names, by module: at most MAX_FILES, the newest last."""
        with self._changed:
            return dict(self._reasons)

    def forget(self, build_ids: Collection[str]) -> None:
        """Forget names in files with these build IDs: their debug files can be read from now on."""
        with self._changed:
            for key in [key for key in self._kept if key[0].build_id in build_ids]:
                del self._kept[key]

    def close(self) -> None:
        """Stop asking without waiting."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def join(self, timeout_s: float) -> bool:
        """Wait until every frame has its answer. Return False on timeout."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting, timeout_s)

    def _enter(self, number: int, frame: NativeFrame) -> None:
        if not frame.module:
            self._answer("", [number], unnamed(_NO_FILE))
            return
        process = (frame.pid, frame.start_ticks)
        key = _FileKey(frame.module, frame.build_id, *((0, 0) if frame.build_id else process))
        file = self._files.get(key)
        if file is None:
            self._forget_files()
            file = self._files[key] = _File(self._clock())
        name = self._kept.get((key, frame.address))
        if name is not None:
            self._answer(frame.module, [number], name)
            return
        file.processes[process] = None
        file.processes.move_to_end(process)
        if len(file.processes) > _MAX_PROCESSES:
            file.processes.popitem(last=False)
        if not file.waiting:
            file.due_s = max(file.due_s, self._clock() + BATCH_S)
        file.waiting.setdefault(frame.address, []).append(number)
        self._waiting += 1

    def _forget_files(self) -> None:
        for key in [key for key, one in self._files.items() if not one.waiting]:
            if len(self._files) < MAX_FILES:
                break
            del self._files[key]

    def _answer(self, module: str, numbers: Sequence[int], name: NativeName) -> None:
        for number in numbers:
            self._ready[number] = name
        if name.reason:
            self._reasons[module] = name.reason
            self._reasons.move_to_end(module)
            if len(self._reasons) > MAX_FILES:
                self._reasons.popitem(last=False)

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._closed and (wait_s := self._until_due_s()) != 0.0:
                    self._changed.wait(wait_s)
                if self._closed:
                    return
                key = min(self._waiting_files(), key=lambda key: self._files[key].due_s)
                file = self._files[key]
                addresses = list(file.waiting)[:MAX_ADDRESSES]
                processes = list(reversed(file.processes))
            ask = functools.partial(self._ask, key, processes, addresses, file.lines)
            answer, without = self._budget.spend(ask, _cost_s)
            with self._changed:
                self._take_in(key, addresses, answer, without)
                self._changed.notify_all()

    def _waiting_files(self) -> list[_FileKey]:
        return [key for key, one in self._files.items() if one.waiting]

    def _until_due_s(self) -> float | None:
        """Return seconds until a file may be asked about, or None if no frame waits."""
        due = [self._files[key].due_s for key in self._waiting_files()]
        return max(0.0, min(due) - self._clock(), self._budget.until_ready_s()) if due else None

    def _ask(
        self,
        key: _FileKey,
        processes: Sequence[tuple[int, int]],
        addresses: Sequence[int],
        lines: bool,
    ) -> tuple[NamesAnswer | None, NativeName]:
        """Ask about a file by way of each process, until one still maps it.

        Returns:
            The answer, and what each frame gets without one.
        """
        answer, reason, ended = None, "", True
        for pid, start_ticks in processes:
            if self._silent.get((pid, start_ticks), 0.0) > self._clock():
                reason, ended = f"Files of process {pid} do not answer.", False
                continue
            try:
                answer = self._asking(
                    pid, start_ticks, key.module, key.build_id, addresses, lines=lines
                )
            except NoAnswerError as error:
                log.info("names of %s in process %d: %s", key.module, pid, error)
                self._leave_alone(pid, start_ticks)
                reason, ended = f"{key.module} cannot be read in process {pid}. {error}", False
            except UnreadableError as error:
                gone = error.number in (errno.ENOENT, errno.ESRCH)
                ended = ended and gone
                became = "has ended" if gone else f"cannot be examined: {error}"
                reason = f"Process {pid}, which maps {key.module}, {became}."
            else:
                if not answer.missing:
                    break
        return answer, unnamed(reason, ended=ended)

    def _leave_alone(self, pid: int, start_ticks: int) -> None:
        self._silent[pid, start_ticks] = self._clock() + LATER_S
        if len(self._silent) > MAX_FILES:
            self._silent.popitem(last=False)

    def _take_in(
        self,
        key: _FileKey,
        addresses: Sequence[int],
        answer: NamesAnswer | None,
        without: NativeName,
    ) -> None:
        file = self._files[key]
        file.due_s = self._clock() + BATCH_S
        # If DWARF was too large for a child, the next one leaves it alone.
        file.lines = file.lines and (answer is None or answer.complete)
        for address in addresses:
            numbers = file.waiting.pop(address)
            self._waiting -= len(numbers)
            name = without if answer is None else name_of(key.module, address, answer)
            self._answer(key.module, numbers, name)
            if not name.reason:
                self._kept[key, address] = name
        while len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)
