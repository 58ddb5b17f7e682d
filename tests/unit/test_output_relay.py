"""Which outputs of a command come through pipes, and what becomes of them at its exit."""

import os
import pty
import select
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tidscope_backend.cli import output_relay
from tidscope_backend.cli.held_child import spawn_held
from tidscope_backend.cli.output_relay import OutputTail, relayed_outputs
from tidscope_backend.cli.relay import relay_until_exit


@pytest.fixture
def outputs() -> Iterator[tuple[int, int]]:
    """Standard output and standard error while other files stand in their places."""
    kept = os.dup(1), os.dup(2)
    yield 1, 2
    for descriptor, copy in zip((1, 2), kept, strict=True):
        os.dup2(copy, descriptor)
        os.close(copy)


def test_what_goes_to_no_terminal_is_relayed(outputs: tuple[int, int], tmp_path: Path) -> None:
    out, errors = outputs
    screen, terminal = pty.openpty()
    with (tmp_path / "one").open("wb") as one, (tmp_path / "other").open("wb") as other:
        os.dup2(one.fileno(), out)
        os.dup2(other.fileno(), errors)
        found = [relayed_outputs(keep=True), relayed_outputs(keep=False)]
        os.dup2(one.fileno(), errors)
        found.append(relayed_outputs(keep=True))
        os.dup2(terminal, errors)
        found += [relayed_outputs(keep=True), relayed_outputs(keep=True, terminals=True)]
        os.dup2(terminal, out)
        found += [relayed_outputs(keep=True), relayed_outputs(keep=True, terminals=True)]
        os.close(out)
        found.append(relayed_outputs(keep=True))
    for descriptor in (screen, terminal):
        os.close(descriptor)
    assert found == [[(1,), (2,)], [], [(1, 2)], [(1,)], [(1,), (2,)], [], [(1, 2)], []]


def test_a_process_that_is_left_behind_writes_on(outputs: tuple[int, int], tmp_path: Path) -> None:
    """The command exits at once; what it has started waits until then, and writes afterwards."""
    out, _ = outputs
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    reading, writing = os.pipe()
    os.dup2(writing, out)
    os.close(writing)
    child = spawn_held(["sh", "-c", f"(read line < {gate}; echo late) & echo early"], [(1,)])
    exited = relay_until_exit(child)
    os.close(out)
    assert exited.code == 0
    assert exited.tail is not None
    assert exited.tail.text() == "early\n"
    with gate.open("w") as opened:
        opened.write("go\n")
    with os.fdopen(reading, "rb") as written:
        assert written.read() == b"early\nlate\n"


def test_a_reader_that_has_gone_is_felt_by_the_command(outputs: tuple[int, int]) -> None:
    out, _ = outputs
    reading, writing = os.pipe()
    os.dup2(writing, out)
    os.close(writing)
    os.close(reading)
    exited = relay_until_exit(spawn_held(["sh", "-c", "while :; do echo y; done"], [(1,)]))
    assert exited.code == 128 + 13


def test_a_sink_that_does_not_block_loses_nothing(outputs: tuple[int, int]) -> None:
    """Another process that shares our output has made it so; its buffer is small."""
    out, _ = outputs
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(writing, bytes(4096))
    filled = select.select([reading], [], [], 0)[0]
    assert filled
    sent = b"x" * 300_000
    received = bytearray()

    def read_all() -> None:
        while data := os.read(reading, 65536):
            received.extend(data)

    reader = threading.Thread(target=read_all)
    os.dup2(writing, out)
    os.close(writing)
    reader.start()
    output_relay._write(out, sent)
    os.close(out)
    reader.join()
    os.close(reading)
    assert received.endswith(sent)


def test_of_much_output_the_end_is_kept() -> None:
    tail = OutputTail(10)
    for text in (b"abcdef", b"ghij", b"klm"):
        tail.append(text)
    assert (tail.text(), tail.total, tail.cut) == ("defghijklm", 13, True)
