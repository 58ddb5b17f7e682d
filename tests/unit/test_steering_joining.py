"""New programs of a group join the steered ones, for as long as there may be new ones."""

import threading

from tidscope_collector.steering.groups import Program
from tidscope_collector.steering.joining import TRIES, Joining
from tidscope_collector.steering.refusals import NotSteerableError


def program(pid: int) -> Program:
    return Program(pid, 100, f"p{pid}")


def test_nobody_looks_for_programs_of_a_group_that_has_ended() -> None:
    lists: list[list[Program] | None] = [[], [], [program(1)], [program(1)], None]
    lookers: list[threading.Thread] = []
    joined: list[Program] = []

    def members() -> list[Program] | None:
        lookers.append(threading.current_thread())
        return lists.pop(0)

    Joining(members, joined.append, look_s=0.001).start()
    while len(lookers) < 2:  # The first one is this thread, before the start.
        threading.Event().wait(0.001)
    lookers[1].join(60)
    assert not lookers[1].is_alive()
    assert lists == []
    assert joined == [program(1)]


def test_those_that_were_there_do_not_join_and_new_ones_wait_for_a_look() -> None:
    living = [program(1)]
    joined: list[Program] = []
    joining = Joining(lambda: living, joined.append)
    living.append(program(2))
    assert joining.look()
    assert joined == []
    assert joining.look()
    assert joining.look()
    assert joined == [program(2)]


def test_one_that_cannot_be_steered_is_tried_now_and_then_and_left_alone_at_last() -> None:
    living: list[Program] = []
    tries: list[Program] = []

    def join(one: Program) -> None:
        tries.append(one)
        raise NotSteerableError("it has no agent")

    joining = Joining(lambda: living, join)
    living.append(program(2))
    after: list[int] = []
    for _ in range(40):
        assert joining.look()
        after.append(len(tries))
    assert after[:10] == [0, 1, 1, 2, 2, 2, 2, 3, 3, 3]
    assert after[-1] == TRIES
