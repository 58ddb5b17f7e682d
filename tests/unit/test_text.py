"""Numbers, names and text that somebody else chose."""

import json
import logging
import subprocess
import sys

import pytest
from tidscope_backend.text import format_bytes, format_seconds, plural
from tidscope_wire.escaping import EscapingFormatter, escape_controls


def test_plural() -> None:
    assert [plural(n, "thread") for n in (0, 1, 2)] == ["0 threads", "1 thread", "2 threads"]
    assert plural(2, "process", "processes") == "2 processes"


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1024**2 - 1, "1.0 MiB"),
        (1024**2, "1.0 MiB"),
        (5 * 1024**4, "5120.0 GiB"),
    ],
)
def test_bytes(count: int, text: str) -> None:
    assert format_bytes(count) == text


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [(0, "0 µs"), (59_300, "59 µs"), (1_500_000, "1.5 ms"), (2_345_000_000, "2.35 s")],
)
def test_seconds(nanoseconds: int, text: str) -> None:
    assert format_seconds(nanoseconds) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Größe µs ±1 – 線程 🧵", "Größe µs ±1 – 線程 🧵"),
        ("\x1b[31m\0", r"\u001b[31m\u0000"),
        ("\x7f\x80\x9b\xa0", r"\u007f\u0080\u009b\u00a0"),
        ("\t\r\n\u2028", r"\u0009\u000d\u000a\u2028"),
        ("\u200f\u202e\u2066\ufeff", r"\u200f\u202e\u2066\ufeff"),
        ("\U000e0041", r"\udb40\udc41"),
        ("\udcff", r"\udcff"),
    ],
)
def test_no_control_character_is_left(text: str, shown: str) -> None:
    assert escape_controls(text) == shown
    assert json.loads(f'"{shown}"') == text


HOSTILE = "x\x1b]0;owned\x07\r\n2026-11-22 INFO tidscope: all is well\u2028\x9b2J"
SHOWN = r"x\u001b]0;owned\u0007\u000d\u000a2026-11-22 INFO tidscope: all is well\u2028\u009b2J"


def record(message: str, *given: object, error: Exception | None = None) -> logging.LogRecord:
    found = None if error is None else (type(error), error, error.__traceback__)
    return logging.LogRecord("tidscope", logging.INFO, "file", 1, message, given, found)


def test_a_message_is_one_line() -> None:
    formatter = EscapingFormatter("%(levelname)s %(name)s: %(message)s")
    assert formatter.format(record("host %s is here", HOSTILE)) == (
        f"INFO tidscope: host {SHOWN} is here"
    )


def test_lines_of_an_exception_are_indented() -> None:
    try:
        raise ValueError(HOSTILE)
    except ValueError as error:
        text = EscapingFormatter("%(message)s").format(record("it failed", error=error))
    first, *others = text.split("\n")
    assert first == "it failed"
    assert others[0] == "  Traceback (most recent call last):"
    assert all(line.startswith("  ") and line.isprintable() for line in others)
    # The traceback's own line break in the message of the error begins no line of the log.
    assert not any(line.startswith("2026") for line in text.split("\n"))


def test_uncaught_errors_and_warnings_are_escaped_too() -> None:
    program = (
        "import threading, warnings; from tidscope_wire.escaping import log_to_stderr\n"
        "log_to_stderr('log: %(message)s')\n"
        f"warnings.warn({HOSTILE!r})\n"
        f"def fail(): raise ValueError({HOSTILE!r})\n"
        "thread = threading.Thread(target=fail); thread.start(); thread.join()\n"
        "class Dying:\n    def __del__(self): fail()\n"
        "Dying()\nfail()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    lines = done.stderr.decode().rstrip("\n").split("\n")
    assert done.returncode == 1
    assert all(line.isprintable() for line in lines)
    assert {line[:2] for line in lines} == {"lo", "  "}
    assert sum("owned" in line for line in lines) >= 4
