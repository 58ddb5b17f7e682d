"""Escaping of untrusted text for terminals and logs.

Names of threads, programs, runs and hosts may hold any control characters.
"""

import copy
import logging
import sys
import threading
import traceback
from types import TracebackType


def escape_controls(text: str) -> str:
    r"""Return one line of text without control characters.

    Unprintable characters (control characters, line breaks, bidi overrides, lone surrogates, any
    space but the usual one) becomes `\uXXXX`, UTF-16 as JSON has it: a line of JSON stays the same
    JSON.
    """
    return text if text.isprintable() else "".join(map(_escape, text))


def _escape(character: str) -> str:
    if character.isprintable():
        return character
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


class EscapingFormatter(logging.Formatter):
    """Log formatter: one escaped line per message, then the exception's lines, indented.

    No name in a message can start a line that looks like another message.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Format a record."""
        bare = copy.copy(record)
        bare.msg, bare.args = escape_controls(record.getMessage()), ()
        bare.exc_info = bare.exc_text = bare.stack_info = None
        more: list[str] = []
        if record.exc_info and record.exc_info[0] is not None:
            more += "".join(traceback.format_exception(*record.exc_info)).rstrip("\n").split("\n")
        if record.stack_info:
            more += record.stack_info.split("\n")
        return "\n".join([super().format(bare), *(f"  {escape_controls(line)}" for line in more)])


def log_to_stderr(line: str) -> None:
    """Log to standard error, warnings and uncaught errors included.

    Args:
        line: line format of `logging.Formatter`.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(EscapingFormatter(line))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    logging.captureWarnings(True)
    sys.excepthook = _log_uncaught
    threading.excepthook = lambda failed: _log_uncaught(
        failed.exc_type, failed.exc_value, failed.exc_traceback
    )
    sys.unraisablehook = lambda failed: _log_uncaught(
        failed.exc_type, failed.exc_value, failed.exc_traceback
    )


def _log_uncaught(
    kind: type[BaseException], error: BaseException | None, trace: TracebackType | None
) -> None:
    if not issubclass(kind, KeyboardInterrupt):
        found = error or kind()
        logging.getLogger("tidscope").error(
            "an error was not caught", exc_info=(kind, found, trace)
        )
