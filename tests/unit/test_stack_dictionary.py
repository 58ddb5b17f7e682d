"""Frames and nodes of workers and of targets."""

import itertools

import pytest
from tidscope_collector.stacks import dictionary
from tidscope_collector.stacks.dictionary import TargetDictionary, WorkerDictionary
from tidscope_collector.stacks.messages import Frames, MessageError, Nodes, StackFrame


def frame(function: str, address: int = 0) -> StackFrame:
    return StackFrame("native", function, "", 0, "bank", address, "ab")


def worker(*stacks: str) -> WorkerDictionary:
    """A worker that saw stacks, each of functions of one letter, the outermost first."""
    made = WorkerDictionary()
    functions = sorted(set("".join(stacks)))
    made.add(Frames(1, [frame(one) for one in functions]))
    paths = dict.fromkeys(path for stack in stacks for path in itertools.accumulate(stack))
    numbers = {path: number for number, path in enumerate(paths, 1)}
    parents = [numbers.get(path[:-1], 0) for path in paths]
    made.add(Nodes(1, parents, [functions.index(path[-1]) + 1 for path in paths]))
    return made


def functions_at(found: TargetDictionary, node: int) -> str:
    """Functions of a node's stack by the tables, the outermost first."""
    frames, nodes = found.tables()
    names = {int(row["frame"]): row["function"] for row in frames}
    rows = {int(row["node"]): row for row in nodes}
    stack = ""
    while node:
        stack = names[int(rows[node]["frame"])] + stack
        node = int(rows[node]["parent"])
    return stack


def test_a_path_begins_at_the_outermost_frame() -> None:
    found = worker("abc").path(3)
    assert [(number, one.function) for number, one in found] == [(1, "a"), (2, "b"), (3, "c")]


@pytest.mark.parametrize("node", [0, 4, 1 << 31, -1])
def test_an_unknown_node_has_no_path(node: int) -> None:
    assert worker("abc").path(node) == []


def test_numbers_are_the_next_ones() -> None:
    made = worker("ab")
    for more in (Frames(2, [frame("x")]), Frames(4, [frame("x")]), Nodes(5, [0], [1])):
        with pytest.raises(MessageError, match="comes after"):
            made.add(more)


@pytest.mark.parametrize("number", [0, 3])
def test_a_node_has_a_frame_that_was_sent(number: int) -> None:
    with pytest.raises(MessageError, match="unknown frame"):
        worker("ab").add(Nodes(3, [0], [number]))


def test_stacks_of_two_workers_are_the_same_in_a_target() -> None:
    found = TargetDictionary()
    first, second = worker("abc", "abd"), worker("xabd", "abd")
    node = found.node(1, first, 4, 10)
    assert functions_at(found, node) == "abd"
    found.forget_worker(1)
    # Numbers of another worker mean other stacks.
    assert functions_at(found, found.node(2, second, 4, 10)) == "xabd"
    assert found.node(2, second, 7, 10) == node
    assert len(found.tables()[0]) == 4


def test_no_node_stays_none() -> None:
    found = TargetDictionary()
    assert found.node(1, worker("a"), 0, 10) == 0
    assert found.node(1, worker("a"), 9, 10) == 0
    assert [len(table) for table in found.tables()] == [0, 0]


@pytest.mark.parametrize("bound", ["MAX_FRAMES", "MAX_NODES"])
def test_stacks_beyond_a_bound_end_early_and_are_counted(
    bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dictionary, bound, 2)
    found = TargetDictionary()
    node = found.node(1, worker("abc"), 3, 10)
    assert functions_at(found, node) == "ab"
    assert found.cut == 1


def test_each_frame_is_asked_for_once() -> None:
    found = TargetDictionary()
    made = worker("abc", "abd")
    for node in (3, 4, 3):
        found.node(1, made, node, 10)
    assert [(number, one.function, pid) for number, one, pid in found.new] == [
        (1, "a", 10),
        (2, "b", 10),
        (3, "c", 10),
        (4, "d", 10),
    ]


def test_a_name_becomes_part_of_the_row() -> None:
    found = TargetDictionary()
    found.node(1, worker("a"), 1, 10)
    before = found.tables()[0]
    assert before is found.tables()[0]
    found.rename(1, "serve", "bank.c", 41, "inner\tbank.c\t40")
    (row,) = found.tables()[0].tolist()
    assert row == (1, "native", "serve", "bank.c", 41, "bank", 0, "ab", "inner\tbank.c\t40")


def test_a_frame_without_a_name_is_asked_for_where_other_processes_have_it() -> None:
    found = TargetDictionary()
    made = worker("ab")
    node = found.node(1, made, 2, 10)
    found.new.clear()
    found.leave_unnamed(2, ended=False)
    found.ask_again([(node, 10)])
    assert found.new == []
    found.ask_again([(node, 11), (node, 12)])
    (asked,) = found.new
    assert asked[:2] == (2, frame("b"))
    assert asked[2] in (11, 12)
    found.new.clear()
    # The first request is still in progress.
    found.ask_again([(node, 13)])
    assert found.new == []


def test_few_processes_are_asked_for_a_name() -> None:
    found = TargetDictionary()
    node = found.node(1, worker("a"), 1, 1)
    asked = []
    for process in range(2, 20):
        found.leave_unnamed(1, ended=False)
        found.new.clear()
        found.ask_again([(node, process)])
        asked += found.new
    assert len(asked) == dictionary.MAX_PROCESSES - 1


def test_processes_that_ended_before_they_were_asked_do_not_count() -> None:
    found = TargetDictionary()
    node = found.node(1, worker("a"), 1, 1)
    for process in range(2, 20):
        found.leave_unnamed(1, ended=True)
        found.new.clear()
        found.ask_again([(node, process)])
        assert len(found.new) == 1
