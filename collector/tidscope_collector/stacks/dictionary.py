"""Frames and nodes by number: those of a worker, and those of a target."""

from collections.abc import Collection, Iterable

import numpy as np
from tidscope_wire.frame_tables import Table, dtype_of
from tidscope_wire.generated.models import TableName

from tidscope_collector.stacks.messages import Frames, MessageError, Nodes, StackFrame

MAX_PROCESSES = 4
"""Maximum processes that are asked for the name of a frame."""
MAX_FRAMES = 16_384
"""Maximum frames of a target."""
MAX_NODES = 32_768
"""Maximum nodes of a target; stacks beyond either bound end early."""


class WorkerDictionary:
    """Frames and nodes as one worker numbers them, from 1 on without gaps."""

    def __init__(self) -> None:
        self._frames: list[StackFrame] = []
        self._nodes: list[tuple[int, int]] = []

    def add(self, more: Frames | Nodes) -> None:
        """Take in further frames or nodes.

        Raises:
            MessageError: numbers are not the next ones, or nothing has them.
        """
        known: list[StackFrame] | list[tuple[int, int]]
        known = self._frames if isinstance(more, Frames) else self._nodes
        if more.first != len(known) + 1:
            raise MessageError(f"number {more.first} comes after {len(known)}")
        if isinstance(more, Frames):
            self._frames += more.frames
        elif not 1 <= min(more.frames) <= max(more.frames) <= len(self._frames):
            raise MessageError("a node of an unknown frame")
        else:
            self._nodes += zip(more.parents, more.frames, strict=True)

    def path(self, node: int) -> list[tuple[int, StackFrame]]:
        """Return nodes and their frames from an outermost one to this one; empty: unknown."""
        found: list[tuple[int, StackFrame]] = []
        while 0 < node <= len(self._nodes):
            parent, frame = self._nodes[node - 1]
            found.append((node, self._frames[frame - 1]))
            node = parent
        return found[::-1]


class TargetDictionary:
    """Frames and nodes of a target, which stay while it is attached, whichever worker saw them.

    Attributes:
        cut: stacks that end early, since no more rows fit into a table.
        new: frames to ask names for, as (number, frame, process ID).
    """

    def __init__(self) -> None:
        self._frames: dict[StackFrame, int] = {}
        self._nodes: dict[tuple[int, int], int] = {}
        self._known: dict[tuple[int, int], int] = {}
        self._frame_rows: list[tuple[int, str, str, str, int, str, int, str, str]] = []
        self._node_rows: list[tuple[int, int, int]] = []
        self._tables: tuple[Table, Table] | None = None
        self._asked: dict[int, set[int]] = {}
        self._unnamed: dict[int, StackFrame] = {}
        self.cut = 0
        self.new: list[tuple[int, StackFrame, int]] = []

    def node(self, epoch: int, worker: WorkerDictionary, node: int, process: int) -> int:
        """Return this target's number of a worker's node; 0: it has no frames.

        Args:
            epoch: number of the worker.
            worker: its frames and nodes.
            node: its number of the node.
            process: process ID of a thread that was seen there.
        """
        if not node:
            return 0
        found = self._known.get((epoch, node))
        if found is not None:
            return found
        at = 0
        for number, frame in worker.path(node):
            there = self._known.get((epoch, number)) or self._add(at, frame, process)
            if not there:
                self.cut += 1
                break
            at = self._known[epoch, number] = there
        return at

    def _add(self, parent: int, frame: StackFrame, process: int) -> int:
        number = self._frames.get(frame)
        if number is None:
            if len(self._frames) >= MAX_FRAMES:
                return 0
            number = self._frames[frame] = len(self._frames) + 1
            self._tables = None
            self._frame_rows.append((number, *frame, ""))
            self._ask(number, frame, process)
        node = self._nodes.get((parent, number))
        if node is None:
            if len(self._nodes) >= MAX_NODES:
                return 0
            node = self._nodes[parent, number] = len(self._nodes) + 1
            self._tables = None
            self._node_rows.append((node, parent, number))
        return node

    def _ask(self, number: int, frame: StackFrame, process: int) -> None:
        self._asked.setdefault(number, set()).add(process)
        self.new.append((number, frame, process))

    def leave_unnamed(self, number: int, *, ended: bool) -> None:
        """Note that a process could not tell the name of a frame: another one may.

        Args:
            number: number of the frame.
            ended: whether the process had ended, and thus was not asked.
        """
        if ended:
            self._asked[number].clear()
        if len(self._asked[number]) < MAX_PROCESSES:
            self._unnamed[number] = self._frame(number)

    def ask_again(self, seen: Iterable[tuple[int, int]]) -> None:
        """Ask for names again where other processes were seen than those asked before.

        Args:
            seen: nodes, and processes that were seen there.
        """
        if not self._unnamed:
            return
        for node, process in set(seen):
            at = node
            while at:
                _, at, number = self._node_rows[at - 1]
                frame = self._unnamed.get(number)
                if frame is not None and process not in self._asked[number]:
                    del self._unnamed[number]
                    self._ask(number, frame, process)

    def without_lines(self, build_ids: Collection[str]) -> list[tuple[int, StackFrame, list[int]]]:
        """Return native frames in files with these build IDs whose line is unknown.

        Returns:
            Numbers, frames, and processes that were asked before.
        """
        return [
            (number, self._frame(number), sorted(self._asked.get(number, ())))
            for number, kind, _, _, line, _, _, build_id, _ in self._frame_rows
            if kind == "native" and not line and build_id in build_ids
        ]

    def forget_worker(self, epoch: int) -> None:
        """Forget what the nodes of an ended worker were here."""
        for key in [key for key in self._known if key[0] == epoch]:
            del self._known[key]

    def rename(self, number: int, function: str, file: str, line: int, inlined: str) -> None:
        """Give a frame the name that was found for it."""
        self._tables = None
        _, kind, _, _, _, module, address, build_id, _ = self._frame_rows[number - 1]
        self._frame_rows[number - 1] = (
            *(number, kind, function, file, line),
            *(module, address, build_id, inlined),
        )

    def _frame(self, number: int) -> StackFrame:
        _, kind, function, file, line, module, address, build_id, _ = self._frame_rows[number - 1]
        return StackFrame(kind, function, file, line, module, address, build_id)

    def tables(self) -> tuple[Table, Table]:
        """Return the rows of `stack_frames` and of `stack_nodes`."""
        if self._tables is None:
            self._tables = (
                _table("stack_frames", self._frame_rows),
                _table("stack_nodes", self._node_rows),
            )
        return self._tables


def _table(name: TableName, rows: Iterable[tuple[object, ...]]) -> Table:
    return np.array(list(rows), dtype_of(name))
