"""The rows of coalesced frames: the last one of each living thread, if it changed."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from tidscope_wire.frame import Rows
from tidscope_wire.generated.models import RunEvent, ThreadBorn, ThreadExited, ThreadRenamed

Ints = npt.NDArray[np.int64]


def last_rows(
    samples: pa.Table,
    ends: Ints,
    events: Sequence[RunEvent],
    fields: Sequence[str],
    keys: Mapping[int, int],
) -> Iterator[Rows]:
    """Rows of frames made at some recorded frames of a part.

    Args:
        samples: of the part, from a key frame on; columns as in docs/runs.md.
        ends: numbers of these, ascending; each also stands for those after the previous one.
        events: of the part.
        fields: that rows carry.
        keys: indices of the frames made that are key frames, with all threads, starts and names;
            for each the number of a recorded key frame that it stands for.
    """
    if samples["start_ns"].null_count:
        samples = samples.filter(pc.field("start_ns").is_valid())
    tid = samples["tid"].to_numpy().astype(np.int64)
    start = samples["start_ns"].to_numpy()
    seq = samples["seq"].to_numpy()
    group = np.searchsorted(ends, seq)
    order = np.lexsort((seq, start, tid, group))
    order = order[_is_last(group[order], tid[order], start[order])]
    order = order[~_gone(tid[order], start[order], ends[group[order]], events)]
    for number, key_seq in keys.items():
        # What was before a key frame and is not in it has ended.
        order = order[(group[order] != number) | (seq[order] >= key_seq)]
    order = order[_changed(samples, order, fields) | np.isin(group[order], list(keys))]
    chosen = samples.take(pa.array(order))
    cuts = np.searchsorted(group[order], np.arange(len(ends) + 1))
    columns = {name: _values(chosen[name]) for name in fields}
    pids = chosen["pid"].fill_null(0).to_numpy() if "pid" in chosen.column_names else None
    for number in range(len(ends)):
        part = slice(int(cuts[number]), int(cuts[number + 1]))
        rows = Rows(
            tid=tid[order][part].astype(np.uint32),
            columns={name: values[part] for name, (values, _) in columns.items()},
            absent={name: null[part] for name, (_, null) in columns.items() if null[part].any()},
        )
        if number in keys:
            starts = start[order][part]
            names = _names(samples, events, int(ends[number]))
            called = [
                names.get(key, "") for key in zip(rows.tid.tolist(), starts.tolist(), strict=True)
            ]
            pid = None if pids is None else pids[part]
            rows = Rows(rows.tid, rows.columns, rows.absent, starts, called, pid)
        yield rows


def _is_last(*keys: Ints) -> npt.NDArray[np.bool_]:
    """Whether each of sorted rows is the last one with its keys."""
    edge = np.zeros(max(0, len(keys[0]) - 1), np.bool_)
    for key in keys:
        edge |= np.diff(key) != 0
    return np.concatenate([edge, np.ones(min(1, len(keys[0])), np.bool_)])


def _gone(tid: Ints, start: Ints, end: Ints, events: Sequence[RunEvent]) -> npt.NDArray[np.bool_]:
    """Whether the thread of each row has exited at its frame."""
    exits = {
        (named.event.tid, named.event.start_ns): named.seq
        for named in events
        if isinstance(named.event, ThreadExited)
    }
    if not exits:
        return np.zeros(len(tid), np.bool_)
    keys = zip(tid.tolist(), start.tolist(), end.tolist(), strict=True)
    return np.array([exits.get((one, begun), seq + 1) <= seq for one, begun, seq in keys], np.bool_)


def _changed(samples: pa.Table, order: Ints, fields: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Whether each row differs from the previous one of its thread."""
    tid, start = samples["tid"].to_numpy()[order], samples["start_ns"].to_numpy()[order]
    place = np.lexsort((np.arange(len(order)), start, tid))
    same = np.zeros(len(order), np.bool_)
    same[1:] = (np.diff(tid[place].astype(np.int64)) == 0) & (np.diff(start[place]) == 0)
    for name in fields:
        if not same.any():
            break
        values, null = _values(samples[name])
        values, null = values[order[place]], null[order[place]]
        same[1:] &= (values[1:] == values[:-1]) & (null[1:] == null[:-1])
    changed = np.ones(len(order), np.bool_)
    changed[place] = ~same
    return changed


def _values(column: pa.ChunkedArray) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    """Values, 0 where absent, and a mask of where they are absent."""
    null = np.zeros(len(column), np.bool_)
    if column.null_count:
        null = column.is_null().to_numpy()
        column = column.fill_null(0)
    return column.to_numpy(), null


def _names(samples: pa.Table, events: Sequence[RunEvent], seq: int) -> dict[tuple[int, int], str]:
    """The name of each thread at a recorded frame."""
    named = samples.filter(pc.field("name").is_valid() & (pc.field("seq") <= seq))
    named = named.sort_by("seq")
    keys = zip(named["tid"].to_pylist(), named["start_ns"].to_pylist(), strict=True)
    seqs = named["seq"].to_pylist()
    names = dict(zip(keys, named["name"].to_pylist(), strict=True))
    newest = seqs[-1] if seqs else 0
    holder = {tid: (tid, start) for tid, start in names}
    for one in events:
        event = one.event
        if not newest < one.seq <= seq:
            continue
        if isinstance(event, ThreadBorn):
            holder[event.tid] = (event.tid, event.start_ns)
            names[event.tid, event.start_ns] = event.name
        elif isinstance(event, ThreadRenamed) and event.tid in holder:
            names[holder[event.tid]] = event.name
    return names
