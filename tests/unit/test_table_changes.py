"""Tables in frames: what changed is sent, and whoever puts it together has all of it."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tidscope_collector.sampling import table_changes
from tidscope_collector.sampling.table_changes import EncodedTables, TableChanges
from tidscope_wire.frame_tables import Table, decode_table, dtype_of, latest_rows
from tidscope_wire.generated.limits import MAX_TABLE_ROWS
from tidscope_wire.generated.models import TableName

SECOND = 1_000_000_000
ATTACH = -10 * SECOND
"""Long ago: tables are read as usual."""
Tables = dict[TableName, Table]


class Scripted:
    """Gives what a test puts into it, at the time that it says."""

    def __init__(self) -> None:
        self.tables: Tables = {}
        self.given: Tables = {}
        """What was read last, as it was when the reading began."""
        self.now = 0
        self.takes_ns = 0
        self.reads = 0
        self.error: OSError | None = None

    def clock(self) -> int:
        return self.now

    locks_reason = ""

    def read(self) -> Iterator[Tables]:
        self.reads += 1
        self.now += self.takes_ns
        if self.error is not None:
            raise self.error
        given = dict(self.tables)
        yield {}
        for name, table in given.items():
            yield {name: table}
        self.given = given

    def close(self) -> None:
        """Nothing is open."""


def stays(rows: list[tuple[int, int, int, int]]) -> Table:
    return np.array(rows, dtype_of("stays"))


def decoded(encoded: EncodedTables) -> Tables:
    at, found = 0, {}
    for one in encoded.described:
        found[one.name] = decode_table(one.name, encoded.data[at : at + one.bytes])
        at += one.bytes
    assert at == len(encoded.data)
    return found


ROWS = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(1, 2), st.integers(0, 1)), st.integers(1, 3)
)


@settings(deadline=None)
@given(st.lists(st.tuples(ROWS, st.booleans()), max_size=6))
def test_a_reader_of_changes_knows_the_table(
    history: list[tuple[dict[tuple[int, int, int], int], bool]],
) -> None:
    source = Scripted()
    changes, known = TableChanges(source, ATTACH, source.clock, lambda: 0), stays([])
    for rows, whole in history:
        source.now += SECOND
        source.tables = {"stays": stays([(*key, value) for key, value in rows.items()])}
        found = decoded(changes.next(whole=whole)).get("stays", stays([]))
        known = latest_rows("stays", [found] if whole else [known, found])
        assert known.tolist() == latest_rows("stays", [source.tables["stays"]]).tolist()
        if whole:
            assert len(found) == len(rows)
        source.now += SECOND
        assert changes.next(whole=False) == ([], b"")


@settings(deadline=None)
@given(st.lists(st.tuples(ROWS, st.integers(0, 9), st.booleans()), max_size=8))
def test_frames_may_come_between_the_pieces_of_a_reading(
    history: list[tuple[dict[tuple[int, int, int], int], int, bool]],
) -> None:
    source, complete = Scripted(), Tables()
    changes, known = TableChanges(source, ATTACH, source.clock, lambda: 0), stays([])
    for rows, pieces, key in [*history, ({(9, 9, 9): 9}, 0, False)]:
        source.now += SECOND
        source.tables = {"stays": stays([(*one, value) for one, value in rows.items()])}
        for _ in range(pieces):
            changes.work(0)
            complete = complete if changes.is_under_way else source.given
        found = decoded(changes.next(whole=key, last=not pieces)).get("stays", stays([]))
        complete = complete if changes.is_under_way else source.given
        known = latest_rows("stays", [found] if key else [known, found])
        assert known.tolist() == latest_rows("stays", list(complete.values())).tolist()


def test_what_fails_between_two_frames_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    source = Scripted()
    source.error = OSError("no")
    changes = TableChanges(source, ATTACH, source.clock, lambda: 0)
    for _ in range(3):
        changes.work(0)
        assert (changes.is_under_way, changes.are_ready) == (False, False)
        assert changes.next(whole=False) == ([], b"")
    assert [record.message for record in caplog.records] == ["tables cannot be read: no"]


def test_they_are_read_once_a_second_and_at_the_end() -> None:
    source = Scripted()
    changes = TableChanges(source, ATTACH, source.clock, lambda: 0)
    for _ in range(10):
        changes.next(whole=False)
        source.now += SECOND // 10
    assert source.reads == 1
    changes.next(whole=False)
    assert source.reads == 2
    changes.next(whole=False, last=True)
    assert source.reads == 3


@pytest.mark.parametrize(
    ("takes_ms", "share", "periods"),
    [(9, 0.01, 10), (25, 0.01, 25), (25, 0.005, 50), (25, 1, 10)],
)
def test_readings_take_no_more_than_their_share_of_a_core(
    takes_ms: int, share: float, periods: int
) -> None:
    source = Scripted()
    source.takes_ns = takes_ms * 1_000_000
    changes = TableChanges(source, ATTACH, source.clock, source.clock)
    changes.share = share
    read = []
    for period in range(120):
        source.now, before = period * SECOND // 10, source.reads
        changes.next(whole=False)
        read += [period] * (source.reads - before)
    assert read == list(range(0, 120, periods))


def test_a_machine_that_is_busy_makes_no_reading_seldom() -> None:
    """What counts is the CPU that a reading takes, not how long it waits for one."""
    source = Scripted()
    source.takes_ns = 20_000_000
    changes = TableChanges(source, ATTACH, source.clock, lambda: 0)
    for _ in range(50):
        changes.next(whole=False)
        source.now += SECOND // 10
    assert source.reads == 5


def test_a_key_frame_between_two_reads_has_what_was_read_last() -> None:
    source = Scripted()
    source.tables = {"stays": stays([(1, 4, 0, 5)])}
    changes = TableChanges(source, ATTACH, source.clock, lambda: 0)
    changes.next(whole=False)
    source.tables = {"stays": stays([(1, 4, 0, 9)])}
    assert decoded(changes.next(whole=True))["stays"].tolist() == [(1, 4, 0, 5)]
    source.now += SECOND
    assert decoded(changes.next(whole=False))["stays"].tolist() == [(1, 4, 0, 9)]


def test_a_table_that_cannot_be_read_holds_no_frame_up(caplog: pytest.LogCaptureFixture) -> None:
    source = Scripted()
    source.tables = {"stays": stays([(1, 4, 0, 5)])}
    changes = TableChanges(source, ATTACH, source.clock, lambda: 0)
    changes.next(whole=False)
    source.error = OSError("no")
    for _ in range(3):
        source.now += SECOND
        assert changes.next(whole=False) == ([], b"")
    assert [record.message for record in caplog.records] == ["tables cannot be read: no"]
    assert decoded(changes.next(whole=True))["stays"].tolist() == [(1, 4, 0, 5)]


def test_a_table_is_bounded_and_what_is_left_out_is_counted() -> None:
    source = Scripted()
    many = np.zeros(MAX_TABLE_ROWS + 7, dtype_of("stays"))
    many["tid"] = np.arange(len(many))
    many["count"] = 2
    many["count"][:7] = 1
    source.tables = {"stays": many}
    encoded = TableChanges(source, ATTACH, source.clock, lambda: 0).next(whole=True)
    (described,) = encoded.described
    assert (described.rows, described.omitted) == (MAX_TABLE_ROWS, 7)
    assert decoded(encoded)["stays"]["count"].min() == 2


def test_changes_of_more_rows_than_a_table_has_are_sent_as_far_as_they_fit() -> None:
    source = Scripted()
    half = MAX_TABLE_ROWS * 2 // 3
    many = np.zeros(half, dtype_of("stays"))
    many["tid"], many["count"] = np.arange(half), 1
    source.tables = {"stays": many}
    changes = TableChanges(source, ATTACH, source.clock, lambda: 0)
    changes.next(whole=True)
    others = many.copy()
    others["tid"] += half
    source.tables, source.now = {"stays": others}, 10 * SECOND
    sent = decoded(changes.next(whole=False))["stays"]
    assert len(sent) == MAX_TABLE_ROWS
    assert int(sent["count"].sum()) == half


def test_a_table_that_does_not_fit_says_how_many_rows_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(table_changes, "MAX_BYTES", 10)
    source = Scripted()
    source.tables = {"stays": stays([(1, 4, 0, 5)])}
    (described,) = TableChanges(source, ATTACH, source.clock, lambda: 0).next(whole=True).described
    assert (described.rows, described.omitted) == (0, 1)


def test_the_first_readings_come_soon() -> None:
    """So that what lies at the addresses of locks is looked up while a short program lives."""
    source = Scripted()
    changes = TableChanges(source, 0, source.clock, lambda: 0)
    read = []
    for tick in range(40):
        source.now, before = tick * SECOND // 10, source.reads
        changes.next(whole=False)
        read += [tick] * (source.reads - before)
    assert read == [0, 1, 2, 4, 8, 16, 26, 36]


def test_it_is_said_when_they_were_read() -> None:
    source = Scripted()
    source.tables = {"stays": stays([(1, 1, 0, 5)])}
    changes = TableChanges(source, ATTACH, source.clock, lambda: 0)
    (described,) = changes.next(whole=True).described
    assert described.read_ns == 10 * SECOND
    source.now = SECOND // 2
    (described,) = changes.next(whole=True).described
    assert described.read_ns == 10 * SECOND
