"""Limited children end or fail at whatever they may not do, and whoever asks them goes on."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from capabilities import needs
from processes import wait_for_end
from programs.limited import ATTEMPTS
from tidscope_collector.confinement.children import OURS, ChildError, LimitedChildren, Reply
from tidscope_collector.confinement.fork_server import OPENING

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def children() -> Iterator[LimitedChildren]:
    made = LimitedChildren("programs.limited", (*OURS, TESTS))
    yield made
    made.close()


def ask(children: LimitedChildren, question: str, deadline_s: float = 20) -> Reply:
    return children.ask(question, None, deadline_s=deadline_s, most_bytes=1 << 16)


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_child_cannot(children: LimitedChildren, attempt: str) -> None:
    assert ask(children, attempt) == Reply(b"", ended=True)
    # And its fork server serves the next one.
    assert ask(children, "status").ended


def test_a_child_has_no_rights_and_nothing_open(children: LimitedChildren) -> None:
    text = ask(children, "status").data.decode()
    status = dict(line.split(":", 1) for line in text.splitlines())
    held = [status[f"Cap{kind}"].strip() for kind in ("Inh", "Prm", "Eff", "Amb")]
    assert held == ["0" * 16] * 4
    assert (status["NoNewPrivs"].strip(), status["Seccomp"].strip()) == ("1", "2")
    # Where it answers to, and the status file.
    assert status["descriptors"].strip() == "2"


@needs("root")
def test_the_fork_server_keeps_what_opening_takes(children: LimitedChildren) -> None:
    children.keep(OPENING)
    assert ask(children, "status").ended  # it has been given up by now
    text = Path(f"/proc/{children.pid}/status").read_text()
    status = dict(line.split(":", 1) for line in text.splitlines())
    # CAP_DAC_READ_SEARCH and CAP_SYS_PTRACE
    for kind in ("Prm", "Eff"):
        assert status[f"Cap{kind}"].strip() == f"{1 << 2 | 1 << 19:016x}"
    assert status["CapBnd"].strip() == "0" * 16
    assert (status["NoNewPrivs"].strip(), status["Seccomp"].strip()) == ("1", "2")
    assert Path(f"/proc/{children.pid}/environ").read_bytes() == b""


def test_an_answer_without_an_end_is_cut(children: LimitedChildren) -> None:
    reply = ask(children, "flood")
    assert (len(reply.data), reply.ended) == (1 << 16, False)


def test_one_that_does_not_answer_is_ended(children: LimitedChildren) -> None:
    given_up = children.given_up
    assert ask(children, "sleep", deadline_s=0.2) == Reply(b"", ended=False)
    assert children.given_up == given_up + 1
    assert ask(children, "status").ended


def test_without_a_fork_server_there_is_no_answer() -> None:
    children = LimitedChildren("programs.limited", (*OURS, TESTS))
    os.kill(children.pid, signal.SIGKILL)
    os.waitpid(children.pid, 0)
    with pytest.raises(ChildError, match="start the collector again"):
        ask(children, "status")
    children.close()


def test_the_fork_server_ends_with_whoever_asks() -> None:
    children = LimitedChildren("programs.limited", (*OURS, TESTS))
    process = os.fork()
    if process == 0:
        # Another one that has the connection open must not keep it: it is closed on exec.
        os.execv("/bin/sleep", ["sleep", "60"])
    pid = children.pid
    children.close()
    wait_for_end(pid)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
