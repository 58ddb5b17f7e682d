"""The stacks of one target, as tables of its frames."""

from collections.abc import Callable, Mapping

import numpy as np
from tidscope_wire.frame_tables import Table, Tables, dtype_of

from tidscope_collector.stacks.dictionary import TargetDictionary
from tidscope_collector.stacks.messages import Samples
from tidscope_collector.stacks.service import Batch, StackService
from tidscope_collector.symbols.frames import NativeFrame
from tidscope_collector.symbols.symbols import Symbols
from tidscope_collector.waits.states import State
from tidscope_collector.waits.wire_tables import LockNumbering, lock_numbers

LOCK_PATIENCE = 3
"""Readings for which a sample waits for the number of its lock."""
STRANGER_PATIENCE = 3
"""Readings for which samples of a process wait until it is known as a member of a group."""
MAX_UNDER_WAY = 1 << 16
_BEYOND_BOUND = 4


class TargetStacks:
    """The tables of one target; belongs to the thread of targets.

    Args:
        service: has the samples.
        attach_ns: CLOCK_MONOTONIC of the attachment.
        members: returns its processes: start in clock ticks since boot, by process ID.
        locks: numbers of its locks.
    """

    def __init__(
        self,
        service: StackService,
        attach_ns: int,
        members: Callable[[], Mapping[int, int]],
        locks: LockNumbering,
    ) -> None:
        self._service = service
        self._attach_ns = attach_ns
        self._members = members
        self._locks = locks
        self._symbols = Symbols(budget=service.naming)
        self._dictionary = TargetDictionary()
        self._serial = self._epoch = 0
        self._number = 0
        self._under_way: dict[tuple[int, int], int] = {}
        self._waiting: list[tuple[int, Table, Samples]] = []
        self._debug_files = 0
        self._strangers: list[tuple[int, Batch]] = []
        """Samples of processes that may become known as members, and for how many readings."""

    def read(self) -> Tables:
        """Return all frames and nodes, and samples since the last call; empty without any."""
        batches = self._service.since(self._serial)
        made = self._retry_locks()
        if batches:
            members = self._members()
            pids = np.fromiter(members, np.uint32)
            self._serial = batches[-1].serial
            strangers, self._strangers = self._strangers, []
            for patience, batch in [*strangers, *((STRANGER_PATIENCE, one) for one in batches)]:
                # Samples of an earlier attachment to the same process may be kept, too.
                since = batch.samples["begin_ns"] >= self._attach_ns
                known = np.isin(batch.samples["process"], pids)
                if len(mine := batch.samples[since & known]):
                    made += self._rows(batch, mine)
                if patience and len(rest := batch.samples[since & ~known]):
                    self._strangers.append((patience - 1, batch._replace(samples=rest)))
            self._ask_names(members)
        self._ask_again()
        for number, name in self._symbols.take().items():
            place = name.place
            if place.function:
                inlined = name.inlined_text
                self._dictionary.rename(number, place.function, place.file, place.line, inlined)
            else:
                self._dictionary.leave_unnamed(number, ended=name.ended)
        periods = self._periods()
        if not len(periods):
            return {}
        frames, nodes = self._dictionary.tables()
        counts = self._service.counts()
        counts[_BEYOND_BOUND] += self._dictionary.cut
        return {
            "stack_frames": frames,
            "stack_nodes": nodes,
            "stack_samples": np.concatenate([np.empty(0, dtype_of("stack_samples")), *made]),
            "stack_periods": periods,
            "stack_counts": np.array(list(enumerate(counts, 1)), dtype_of("stack_counts")),
        }

    def close(self) -> None:
        """Ask for no more names."""
        self._symbols.close()

    def _periods(self) -> Table:
        rows = [
            (number, max(0, begin - self._attach_ns), max(0, end - self._attach_ns))
            for number, (begin, end) in enumerate(self._service.periods(), 1)
            if not end or end > self._attach_ns
        ]
        return np.array(rows, dtype_of("stack_periods"))

    def _rows(self, batch: Batch, samples: Samples) -> list[Table]:
        if batch.epoch != self._epoch:
            self._dictionary.forget_worker(self._epoch)
            self._epoch = batch.epoch
            self._under_way.clear()
        rows = np.empty(len(samples), dtype_of("stack_samples"))
        for name in ("tid", "state", "weight", "wait_ns", "delay_ns"):
            rows[name] = samples[name]
        rows["begin_ns"] = samples["begin_ns"] - np.uint64(self._attach_ns)
        rows["waker_pid"] = samples["waker"] >> np.uint64(32)
        rows["waker_tid"] = samples["waker"] & np.uint64(0xFFFFFFFF)
        rows["sample"] = [
            self._numbered(batch.epoch, number, ended=ended)
            for number, ended in zip(
                samples["number"].tolist(), samples["ended"].tolist(), strict=True
            )
        ]
        for node, process in (("node", samples["process"]), ("waker_node", rows["waker_pid"])):
            rows[node] = [
                self._dictionary.node(batch.epoch, batch.worker, number, pid)
                for number, pid in zip(samples[node].tolist(), process.tolist(), strict=True)
            ]
            self._dictionary.ask_again(zip(rows[node].tolist(), process.tolist(), strict=True))
        self._set_locks(rows, samples)
        return self._hold_unnumbered(rows, samples, LOCK_PATIENCE)

    def _numbered(self, epoch: int, number: int, *, ended: int) -> int:
        """Return the number of a sample here, the same when it comes again."""
        key = (epoch, number)
        found = self._under_way.pop(key, None)
        if found is None:
            self._number += 1
            found = self._number
        if not ended and len(self._under_way) < MAX_UNDER_WAY:
            self._under_way[key] = found
        return found

    def _set_locks(self, rows: Table, samples: Samples) -> None:
        rows["lock"] = 0
        waits = samples["address"] != 0
        if waits.any():
            places = np.empty(int(waits.sum()), [("process", "u4"), ("address", "u8")])
            places["process"] = samples["process"][waits]
            places["address"] = samples["address"][waits]
            rows["lock"][waits] = lock_numbers(places, self._locks)

    def _hold_unnumbered(self, rows: Table, samples: Samples, patience: int) -> list[Table]:
        """Return rows that are ready; keep those whose locks have no numbers yet."""
        waits = (samples["state"] == State.FUTEX) & (samples["address"] != 0) & (rows["lock"] == 0)
        if patience and waits.any():
            self._waiting.append((patience - 1, rows[waits], samples[waits]))
            rows = rows[~waits]
        return [rows]

    def _retry_locks(self) -> list[Table]:
        waiting, self._waiting = self._waiting, []
        made: list[Table] = []
        for patience, rows, samples in waiting:
            self._set_locks(rows, samples)
            made += self._hold_unnumbered(rows, samples, patience)
        return made

    def _ask_names(self, members: Mapping[int, int]) -> None:
        new, self._dictionary.new = self._dictionary.new, []
        asked = {}
        for number, frame, pid in new:
            if frame.kind != "native" or frame.function:
                continue
            if pid in members:
                asked[number] = NativeFrame(
                    pid, members[pid], frame.module, frame.build_id, frame.address
                )
            else:
                self._dictionary.leave_unnamed(number, ended=True)
        if asked:
            self._symbols.ask(asked)

    def _ask_again(self) -> None:
        """Ask for names of frames whose debug files have come since."""
        self._debug_files, build_ids = self._service.debug_files(self._debug_files)
        if not build_ids:
            return
        members = self._members()
        self._symbols.forget(build_ids)
        asked = {}
        for number, frame, processes in self._dictionary.without_lines(set(build_ids)):
            # A debug file has names for frames of processes that have ended, too.
            pid = next((pid for pid in (*processes, *members) if pid in members), None)
            if pid is not None:
                asked[number] = NativeFrame(
                    pid, members[pid], frame.module, frame.build_id, frame.address
                )
        self._symbols.ask(asked)
