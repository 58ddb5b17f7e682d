"""Lines of the agent protocol (docs/agents.md): JSON-RPC 2.0, one object per line."""

import json
from dataclasses import dataclass
from typing import NoReturn

VERSION = "0.1.0"
"""Version of this package, reported to collectors; the same as in pyproject.toml."""

PARSE, INVALID, METHOD, PARAMS = -32700, -32600, -32601, -32602
BOUNDS, ENDING, BUSY, CLIENTS, COMMAND = -32001, -32002, -32003, -32004, -32005

LONGEST_LINE = 4096
LONGEST_LEASE_S = 60
LARGEST_SIZE = 1 << 20
LARGEST_ID = (1 << 53) - 1
RESTART_SEARCH = b'{"jsonrpc":"2.0","method":"restart_search"}\n'


class FailureError(Exception):
    """A call fails.

    Attributes:
        code: error code.
        number: ID of the call; None if unknown.
    """

    def __init__(self, code: int, message: str, number: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.number = number

    @property
    def closes(self) -> bool:
        """True if the connection must be closed, because later input may be malformed too."""
        return self.code in (PARSE, INVALID)


@dataclass(frozen=True, slots=True)
class Call:
    """A call; ``params`` is as in the line, and absent when ``has_params`` is false."""

    number: int
    method: str
    params: object
    has_params: bool


def parse_call(line: bytes) -> Call:
    """Parse a line.

    Raises:
        FailureError: the line is no call.
    """
    try:
        message = json.loads(line.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise FailureError(PARSE, "the line is not JSON") from error
    if not isinstance(message, dict):
        raise FailureError(INVALID, "the line is not a JSON object")
    number = message.get("id")
    if type(number) is not int or not 0 <= number <= LARGEST_ID:
        raise FailureError(INVALID, "id must be an integer from 0 on")
    if message.get("jsonrpc") != "2.0":
        raise FailureError(INVALID, 'jsonrpc must be "2.0"', number)
    method = message.get("method")
    if not isinstance(method, str):
        raise FailureError(INVALID, "method must be a string", number)
    for name in message.keys() - {"id", "jsonrpc", "method", "params"}:
        raise FailureError(INVALID, f"a call has no member {name[:40]!r}", number)
    return Call(number, method, message.get("params"), "params" in message)


def parse_set(params: object) -> tuple[int, float]:
    """Parse the parameters of `set`: size, and lease in seconds.

    Raises:
        FailureError: the parameters are invalid.
    """
    if not isinstance(params, dict) or params.keys() != {"size", "lease_s"}:
        raise FailureError(PARAMS, "set takes size and lease_s, and nothing else")
    size, lease_s = params["size"], params["lease_s"]
    if type(size) is not int or not 1 <= size <= LARGEST_SIZE:
        raise FailureError(PARAMS, f"size must be an integer from 1 to {LARGEST_SIZE}")
    if type(lease_s) not in (int, float) or not 0 < lease_s <= LONGEST_LEASE_S:
        raise FailureError(PARAMS, f"lease_s must be a number above 0, {LONGEST_LEASE_S} at most")
    return size, float(lease_s)


def answer_line(number: int, result: object) -> bytes:
    """Format the answer to a call."""
    return _line({"jsonrpc": "2.0", "id": number, "result": result})


def failure_line(failure: FailureError, number: int | None) -> bytes:
    """Format the error answer to a call."""
    error = {"code": failure.code, "message": str(failure)}
    return _line({"jsonrpc": "2.0", "id": number, "error": error})


def _line(message: object) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")
