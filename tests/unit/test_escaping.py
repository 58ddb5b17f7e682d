"""No text that somebody chose can forge a line of a log or steer the terminal that shows it."""

import logging
import subprocess
import sys

from tidscope_wire.escaping import EscapingFormatter

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
