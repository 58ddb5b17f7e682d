"""The comparison that the kernel tests rest on notices every kind of wrong number."""

from dataclasses import replace

import pytest
from programs.netmoves import CASES, Account, Outcome, Report, differences

MOVER = Account(
    tid=7,
    name="mover",
    calls_exact=True,
    read_bytes=10,
    write_bytes=20,
    read_calls=1,
    write_calls=2,
)
WORKER = MOVER.model_copy(update={"tid": 0, "name": "iou-wrk-"})
NUMBERS = (10, 20, 1, 2)


def outcome(*accounts: Account) -> Outcome:
    return Outcome(
        report=Report(event="done", unsupported=None, threads=accounts),
        network="ebpf: ",
        listed=frozenset({7}),
        live={7: NUMBERS},
        exited=[(7, "mover", NUMBERS)],
        totals=tuple(len(accounts) * number for number in NUMBERS),
    )


GOOD = outcome(MOVER)
WITH_WORKERS = replace(
    outcome(MOVER, WORKER),
    exited=[(7, "mover", NUMBERS), (8, "iou-wrk-7", (4, 20, 1, 1)), (9, "iou-wrk-7", (6, 0, 0, 1))],
)


def test_right_numbers_agree() -> None:
    assert differences("tcp4_read_write", GOOD) == []
    assert differences("io_uring_worker", WITH_WORKERS) == []


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (replace(GOOD, live={7: (9, 20, 1, 2)}), "live thread 7"),
        (replace(GOOD, live={7: (10, 20, 1, 3)}), "live thread 7"),
        (replace(GOOD, live={}), "not shown"),
        (replace(GOOD, exited=[(7, "mover", (10, 21, 1, 2))]), "exited thread 7"),
        (replace(GOOD, exited=[]), "0 times instead of 1"),
        (replace(GOOD, exited=[(7, "mover", NUMBERS)] * 2), "2 times instead of 1"),
        (replace(GOOD, exited=[*GOOD.exited, (8, "other", (1, 0, 1, 0))]), "not reported"),
        (replace(GOOD, inexact=1), "without an exit record"),
        (replace(GOOD, totals=(10, 21, 1, 2)), "all threads"),
        (replace(WITH_WORKERS, exited=WITH_WORKERS.exited[:2]), "threads iou-wrk-"),
    ],
)
def test_a_wrong_number_is_noticed(wrong: Outcome, words: str) -> None:
    assert words in " ".join(differences("tcp4_read_write", wrong))


def test_calls_may_be_split_but_not_missing() -> None:
    sendfile = outcome(MOVER.model_copy(update={"calls_exact": False}))
    more = (10, 20, 1, 9)
    split = replace(sendfile, live={7: more}, exited=[(7, "mover", more)])
    assert differences("tcp4_sendfile", split) == []
    none = (10, 20, 1, 0)
    assert differences("tcp4_sendfile", replace(split, live={7: none}))


def test_what_a_source_says_that_it_does_not_count_is_to_be_zero() -> None:
    spliced = replace(GOOD, network="ebpf: …; not counted here: splice() out of TCP sockets (…)")
    assert differences("tcp4_splice_in", spliced) != []
    assert differences("tcp4_read_write", spliced) == []


def test_every_case_says_what_it_is() -> None:
    assert all(CASES.values())
