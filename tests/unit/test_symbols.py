"""Names of native frames: batches, bounds, and answers of children that may be taken over."""

import errno
import math
import threading
from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import wait_until
from tidscope_collector.inspection.asking import NoAnswerError, UnreadableError
from tidscope_collector.inspection.debug_files import read_links
from tidscope_collector.inspection.native_name_answers import (
    Named,
    NamesAnswer,
    Place,
    parse_names,
)
from tidscope_collector.inspection.native_names import MAX_ADDRESSES
from tidscope_collector.symbols import symbols as module
from tidscope_collector.symbols.budget import BURST_S, SHARE, Budget
from tidscope_collector.symbols.frames import NativeFrame, NativeName
from tidscope_collector.symbols.symbols import Symbols

FRAME = NativeFrame(100, 7, "libx.so", "ab", 0x10)
HEAD = b'{"missing": "", "symbols": true, "lines": true}'
END = b'{"cpu_s": 0.25}'
GONE = NamesAnswer("gone", symbols=False, lines=False, complete=True, cpu_s=0.0, names={})


def row(address: int, function: str = "f", inlined: str = "[]") -> bytes:
    text = f'"function": "{function}", "file": "a.c", "line": 3, "inlined": {inlined}'
    return f'{{"address": {address}, {text}}}'.encode()


def named(addresses: Sequence[int], *, complete: bool = True) -> NamesAnswer:
    """Each address has a function that is named like it."""
    names = {one: Named(Place(f"f{one}", "a.c", 1)) for one in addresses}
    return NamesAnswer("", symbols=True, lines=True, complete=complete, cpu_s=0.0, names=names)


class Child:
    """Stands in for limited children.

    Attributes:
        asked: process, file, addresses and whether lines were asked for, in order.
        reply: makes answers.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[int, str, list[int], bool]] = []
        self.reply: Callable[[int, list[int]], NamesAnswer] = lambda _, asked: named(asked)
        self.allowed = threading.Semaphore(1000)

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
        self.asked.append((pid, module, list(addresses), lines))
        self.allowed.acquire()
        return self.reply(pid, list(addresses))


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch) -> Child:
    monkeypatch.setattr(module, "BATCH_S", 0.05)
    return Child()


@pytest.fixture
def symbols(child: Child) -> Iterator[Symbols]:
    made = Symbols(child, budget=Budget())
    yield made
    made.close()


def ask(symbols: Symbols, *frames: NativeFrame) -> list[NativeName]:
    """Names of frames, in their order."""
    symbols.ask(dict(enumerate(frames)))
    assert symbols.join(120)
    taken = symbols.take()
    return [taken[number] for number in range(len(frames))]


def test_one_question_names_many_addresses_of_a_file(symbols: Symbols, child: Child) -> None:
    frames = [FRAME._replace(address=address) for address in (1, 2, 1)]
    found = ask(symbols, *frames, FRAME._replace(module="liby.so", build_id="cd"))
    assert [one.place.function for one in found] == ["f1", "f2", "f1", "f16"]
    assert [one[1:] for one in child.asked] == [
        ("libx.so", [1, 2], True),
        ("liby.so", [16], True),
    ]
    assert symbols.take() == {}


def test_a_name_is_kept_for_frames_that_come_again(symbols: Symbols, child: Child) -> None:
    assert ask(symbols, FRAME) == ask(symbols, FRAME._replace(pid=200))
    assert len(child.asked) == 1


def test_whoever_asks_never_waits_for_a_child(symbols: Symbols, child: Child) -> None:
    child.allowed = threading.Semaphore(0)
    symbols.ask({1: FRAME})
    wait_until(lambda: bool(child.asked))
    symbols.ask({2: FRAME._replace(address=0x20)})
    assert symbols.take() == {}
    child.allowed.release(2)
    assert symbols.join(120)
    assert sorted(symbols.take()) == [1, 2]


def test_batches_are_bounded(symbols: Symbols, child: Child) -> None:
    frames = [FRAME._replace(address=address) for address in range(MAX_ADDRESSES + 5)]
    assert all(one.place.function for one in ask(symbols, *frames))
    assert [len(one[2]) for one in child.asked] == [MAX_ADDRESSES, 5]


def test_a_file_without_build_id_is_that_of_its_process(symbols: Symbols, child: Child) -> None:
    frame = FRAME._replace(build_id="")
    ask(symbols, frame, frame._replace(pid=200))
    assert [one[0] for one in child.asked] == [100, 200]


def test_code_without_a_file_is_named_by_nobody(symbols: Symbols, child: Child) -> None:
    (found,) = ask(symbols, FRAME._replace(module=""))
    assert (found.place, child.asked) == (Place("", "", 0), [])
    assert found.reason.startswith("No file holds this code")


def test_another_process_is_asked_if_one_has_ended(symbols: Symbols, child: Child) -> None:
    def reply(pid: int, asked: list[int]) -> NamesAnswer:
        if pid == 300:
            raise UnreadableError(3)
        return GONE if pid == 200 else named(asked)

    child.reply = reply
    others = [FRAME._replace(pid=pid, address=pid) for pid in (200, 300)]
    found = ask(symbols, FRAME, *others)
    assert [one.place.function for one in found] == ["f16", "f200", "f300"]
    assert [one[0] for one in child.asked] == [300, 200, 100]


def test_the_reason_is_said_if_none_is_left(symbols: Symbols, child: Child) -> None:
    def reply(_: int, asked: list[int]) -> NamesAnswer:
        raise UnreadableError(3)

    child.reply = reply
    found = ask(symbols, FRAME)[0]
    assert found.reason == "Process 100, which maps libx.so, has ended."
    assert found.ended
    child.reply = lambda *_: GONE
    (found,) = ask(symbols, FRAME)
    assert found.reason == "No process maps libx.so any more, and there is no debug file for it."
    assert symbols.reasons() == {"libx.so": found.reason}


def test_a_process_that_does_not_answer_is_left_alone(symbols: Symbols, child: Child) -> None:
    def reply(pid: int, asked: list[int]) -> NamesAnswer:
        raise NoAnswerError("Its files do not answer.")

    child.reply = reply
    assert "do not answer" in ask(symbols, FRAME)[0].reason
    assert "do not answer" in ask(symbols, FRAME._replace(module="liby.so"))[0].reason
    assert len(child.asked) == 1


def test_dwarf_that_ends_a_child_is_left_alone(symbols: Symbols, child: Child) -> None:
    child.reply = lambda _, asked: named(asked[:1], complete=False)
    first, second = ask(symbols, FRAME, FRAME._replace(address=0x20))
    assert first.place.function == "f16"
    assert second.reason == "libx.so takes more time or memory to read than tidscope gives it."
    ask(symbols, FRAME._replace(address=0x30))
    assert [one[3] for one in child.asked] == [True, False]


def test_frames_beyond_the_bound_are_counted(
    symbols: Symbols, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_WAITING", 3)
    symbols.ask({at: FRAME._replace(address=at) for at in range(5)})
    assert symbols.join(120)
    assert (sorted(symbols.take()), symbols.refused) == ([0, 1, 2], 2)
    symbols.close()
    symbols.ask({1: FRAME})
    assert symbols.refused == 3


def test_what_is_remembered_is_bounded(
    symbols: Symbols, child: Child, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_FILES", 3)
    monkeypatch.setattr(module, "MAX_KEPT", 2)
    child.reply = lambda _, asked: named([one for one in asked if one != 0x20])
    for number in range(6):
        frame = FRAME._replace(module=f"lib{number}.so")
        ask(symbols, frame, frame._replace(address=0x20))
    assert list(symbols.reasons()) == ["lib3.so", "lib4.so", "lib5.so"]
    ask(symbols, FRAME._replace(module="lib5.so"))
    assert len(child.asked) == 6
    ask(symbols, FRAME._replace(module="lib1.so"))
    assert len(child.asked) == 7


@pytest.mark.parametrize(
    ("reply", "is_spent"),
    [
        (NamesAnswer("", True, True, True, 0.0, {}), False),
        (NamesAnswer("", True, True, True, BURST_S + 1, {}), True),
        (NamesAnswer("", True, True, False, math.inf, {}), True),
        (UnreadableError(errno.ESRCH), False),
        (NoAnswerError("It hangs."), True),
    ],
)
def test_the_cpu_time_of_children_counts(
    child: Child, reply: NamesAnswer | Exception, is_spent: bool
) -> None:
    """On a busy machine they wait for CPUs, for longer than the budget has."""
    now_s = 0.0
    budget = Budget(lambda: now_s)
    symbols = Symbols(child, budget=budget)

    def waits(_pid: int, _asked: list[int]) -> NamesAnswer:
        nonlocal now_s
        now_s += 2 * BURST_S
        if isinstance(reply, Exception):
            raise reply
        return reply

    child.reply = waits
    ask(symbols, FRAME)
    symbols.close()
    assert (budget.until_ready_s() > 0) == is_spent


def test_children_get_a_share_of_a_cpu() -> None:
    now_s = 0.0
    budget = Budget(lambda: now_s)

    def take(seconds: float) -> None:
        nonlocal now_s
        now_s += seconds

    budget.spend(lambda: take(BURST_S - 1))
    assert budget.until_ready_s() == 0
    budget.spend(lambda: take(3))
    # The first one left a second; while the next one ran, its share was added.
    over_s = 3 - (1 + SHARE * 3)
    assert budget.until_ready_s() == pytest.approx(over_s / SHARE)
    now_s += over_s / SHARE
    assert budget.until_ready_s() == pytest.approx(0, abs=1e-6)
    now_s += 1e6
    budget.spend(lambda: take(BURST_S))
    assert budget.until_ready_s() == 0


def test_a_child_that_fails_is_paid_for() -> None:
    now_s = 0.0
    budget = Budget(lambda: now_s)

    def fail() -> None:
        nonlocal now_s
        now_s += BURST_S + 1
        raise NoAnswerError("late")

    with pytest.raises(NoAnswerError):
        budget.spend(fail)
    assert budget.until_ready_s() > 0


def test_the_column_of_inlined_functions() -> None:
    inlined = (Place("a<b>", "x/a.c", 1), Place("c", "", 0))
    assert NativeName(Place("f", "", 0), inlined).inlined_text == "a<b>\tx/a.c\t1\nc\t\t0"


def test_a_later_line_of_an_answer_replaces_an_earlier_one() -> None:
    lines = [row(1, "f"), row(2), row(1, "g", '[["h", "b.c", 5]]'), END, b""]
    found = parse_names(HEAD, lines, [1, 2])
    assert found.complete
    assert found.names[1] == Named(Place("g", "a.c", 3), (Place("h", "b.c", 5),))
    assert found.names[2] == Named(Place("f", "a.c", 3))


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"{",
        b"[]",
        row(1, "f" * 513),
        row(1, "f", "[" + ",".join(['["a","b",1]'] * 33) + "]"),
        row(1, "f", '[["a", "b"]]'),
        row(1, "f", '[["a", "b", "1"]]'),
        row(-1),
        row(1 << 64),
        row(1)[:-1] + b', "more": 1}',
    ],
)
def test_an_answer_ends_where_it_is_damaged(bad: bytes) -> None:
    found = parse_names(HEAD, [row(7), bad, row(8), END, b""], [1, 7, 8])
    assert (list(found.names), found.complete) == ([7], False)


@pytest.mark.parametrize("end", [[], [END], [END, END], [END, b"", b""], [b"{}", b""]])
def test_an_answer_without_its_end_is_incomplete(end: list[bytes]) -> None:
    assert not parse_names(HEAD, [row(7), *end], [7]).complete


def test_names_that_nobody_asked_for_are_ignored() -> None:
    assert list(parse_names(HEAD, [row(1), row(2), END, b""], [2]).names) == [2]


def test_no_name_separates_columns_or_rows() -> None:
    lines = [row(1, "a\\nb", '[["c\\td", "e\\u001b", 4294967296]]')]
    found = parse_names(HEAD, lines, [1]).names[1]
    assert found.outer.function == "a\\u000ab"
    assert found.inlined == (Place("c\\u0009d", "e\\u001b", 0),)


def test_a_process_that_is_inaccessible() -> None:
    with pytest.raises(UnreadableError) as caught:
        parse_names(b'{"unreadable": 3}', [], [])
    assert caught.value.number == 3
    for head in (b"", b"{}", b'{"missing": "else", "symbols": true, "lines": true}'):
        with pytest.raises(NoAnswerError):
            parse_names(head, [], [])


@given(st.lists(st.one_of(st.binary(max_size=40), st.just(row(1)), st.just(END))))
def test_any_lines_are_an_answer(lines: list[bytes]) -> None:
    found = parse_names(HEAD, lines, [1])
    assert set(found.names) <= {1}
    assert found.complete <= (END in lines)


def test_files_that_are_no_programs_have_no_links() -> None:
    assert read_links([b"", b"#!/bin/sh", b"\x7fELF" + bytes(200)]) == [None] * 3
