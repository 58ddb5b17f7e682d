"""Programs that speak, or break, the protocol of the one that takes stacks. For tests."""

import json
import struct
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tidscope_collector.stacks.messages import COUNTS, NODE, SAMPLE
from tidscope_collector.stacks.program import StackProgram, start_program

_TEXT = """#!{python}
import os, signal, socket, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
link = socket.socket(fileno=3)
socket.recv_fds(link, 16, 8)
for descriptor in range(4, 12):
    try: os.close(descriptor)
    except OSError: pass
messages = {messages!r}
while True:
    command = link.recv(16)
    if command == b"begin":
        for message in messages: link.send(message)
        {then}
    elif not command:
        {at_end}
        break
"""


def start_fake(
    folder: Path, messages: Sequence[bytes], then: str = "pass", at_end: str = "pass"
) -> StackProgram:
    """Start a program in Python.

    Args:
        folder: where to write it.
        messages: what it sends when it is to begin.
        then: a statement that it executes then; `link` is its socket.
        at_end: a statement that it executes once the collector has closed its end.
    """
    path = folder / "tidscope-stacks"
    path.write_text(
        _TEXT.format(python=sys.executable, messages=list(messages), then=then, at_end=at_end)
    )
    path.chmod(0o755)
    made = start_program(path)
    assert isinstance(made, StackProgram)
    return made


def status(state: str, **other: Any) -> bytes:
    """Return a message about the worker."""
    fields = {"trigger": "tracepoint", "cpu_hz": 49, "stack_ns": 5000, "reason": "", "at_ns": 1}
    return b"S" + json.dumps({"state": state, **fields, **other}).encode()


def frames(first: int, *functions: str, **other: Any) -> bytes:
    """Return a message of native frames with these functions."""
    place = {"kind": "native", "file": "", "line": 0, "module": "bank", "build_id": "ab", **other}
    rows = [
        [
            *(number, place["kind"], function, place["file"], place["line"]),
            *(place["module"], place.get("address", 4096 + number), place["build_id"]),
        ]
        for number, function in enumerate(functions, first)
    ]
    return b"F" + json.dumps(rows).encode()


def nodes(*rows: tuple[int, int, int]) -> bytes:
    """Return a message of nodes: number, parent and frame of each."""
    return b"N" + np.array(list(rows), NODE).tobytes()


def samples(*rows: dict[str, int]) -> bytes:
    """Return a message of samples; what a row leaves out is that of a wait that has ended."""
    default = {
        "number": 1,
        "begin_ns": 1 << 60,
        "wait_ns": 1000,
        "delay_ns": 0,
        "address": 0,
        "waker": 0,
    }
    default |= {
        "process": 1,
        "tid": 1,
        "node": 0,
        "waker_node": 0,
        "weight": 1,
        "state": 6,
        "ended": 1,
    }
    names = SAMPLE.names
    assert names is not None
    made = [tuple({**default, **row}[name] for name in names) for row in rows]
    return b"R" + np.array(made, SAMPLE).tobytes()


def counts(*values: int) -> bytes:
    """Return a message of counts."""
    return b"C" + struct.pack(f"<{COUNTS}Q", *values, *[0] * (COUNTS - len(values)))
