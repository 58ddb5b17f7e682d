"""Messages of a collector of another version, as a collector of this version would send them.

Members, events, tables and columns that this version does not know are left out, and named once in
the log. Columns that tables of an older version lack are 0.
"""

import json
import logging
from collections.abc import Iterable
from typing import Any

from pydantic import TypeAdapter, ValidationError
from tidscope_wire import PROTOCOL_VERSION
from tidscope_wire.envelope import split_text
from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.generated.frame_tables import COLUMNS
from tidscope_wire.generated.models import CollectorMessage, FrameHeader, Host
from tidscope_wire.unknown_members import known_part

from tidscope_backend import VERSION
from tidscope_backend.connections.connection import CloseError
from tidscope_backend.text import validation_text

_log = logging.getLogger(__name__)
_MESSAGE: TypeAdapter[Any] = TypeAdapter(CollectorMessage)
_HEADER = TypeAdapter(FrameHeader)
MAX_NAMES = 64
"""Maximum names of unknown parts that are logged for one connection."""


def parse_hello(text: str) -> tuple[Any, list[str]]:
    """Parse the first message of a connection, whose sender's version is not known before.

    Returns:
        The message, and the names of what was left out.

    Raises:
        CloseError: the message does not match its schema, or the sender speaks another protocol.
    """
    try:
        message, unknown = known_part(_MESSAGE, text)
    except ValidationError as error:
        protocol, version = _versions(text)
        raise _other_protocol(protocol, version) or _misfit(error, version) from None
    protocol = getattr(message, "protocol", PROTOCOL_VERSION)
    host = getattr(message, "host", None)
    version = host.collector.version if isinstance(host, Host) else None
    other = _other_protocol(protocol, version)
    if other is not None:
        raise other
    return message, unknown


def _versions(text: str) -> tuple[Any, Any]:
    """Return the versions of protocol and tidscope in a hello of any version; None if unknown."""
    try:
        value = json.loads(text)
        host = value.get("host")
        return value.get("protocol"), host["collector"]["version"] if host else None
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return None, None


def _other_protocol(protocol: Any, version: Any) -> CloseError | None:
    if not isinstance(protocol, int) or protocol == PROTOCOL_VERSION:
        return None
    theirs = f" (tidscope {version})" if isinstance(version, str) else ""
    return CloseError(
        CloseCode.PROTOCOL_VERSION,
        f"the collector speaks version {protocol}{theirs}, "
        f"the backend {PROTOCOL_VERSION} (tidscope {VERSION})",
    )


def _misfit(error: ValidationError, version: Any) -> CloseError:
    text = validation_text(error)
    if not isinstance(version, str) or version == VERSION:
        return CloseError(CloseCode.BAD_MESSAGE, text)
    return CloseError(
        CloseCode.PROTOCOL_VERSION, f"tidscope {version} collects, the backend is {VERSION}: {text}"
    )


class Dialect:
    """Reads the messages of one collector.

    Args:
        host: the collector's host.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._left_out: set[str] = set()

    def message(self, text: str) -> Any:
        """Parse a text message. Raises CloseError if it does not match its schema."""
        version = self._host.collector.version
        try:
            if version == VERSION:
                return _MESSAGE.validate_json(text)
            message, unknown = known_part(_MESSAGE, text)
        except ValidationError as error:
            raise _misfit(error, version) from None
        self.leave_out(unknown)
        return message

    def frame(self, data: bytes) -> bytes:
        """Return a frame as this version makes it; rows are never changed.

        Raises:
            CloseError: the data is not a frame.
        """
        if self._host.collector.version == VERSION:
            return data
        try:
            text, body = split_text(data)
            header = json.loads(text)
            tables, encoded, unknown = _known_tables(header.get("tables") or [], body)
            rows = body[: len(body) - sum(one["bytes"] for one in header.get("tables") or [])]
            checked, more = known_part(_HEADER, json.dumps(header | {"tables": tables or None}))
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            raise CloseError(CloseCode.BAD_MESSAGE, f"not a frame: {error}") from None
        from tidscope_wire.frame import join

        self.leave_out(unknown + more)
        return join(checked, rows, b"".join(encoded))

    def leave_out(self, names: Iterable[str]) -> None:
        """Name in the log what was left out of a message, each name once."""
        new = [name for name in names if name not in self._left_out][:MAX_NAMES]
        if new and len(self._left_out) < MAX_NAMES:
            self._left_out.update(new)
            _log.warning(
                "the collector of %s is tidscope %r, this backend %s; what only the collector "
                "knows is left out: %r; install the same version for both",
                self._host.name,
                self._host.collector.version,
                VERSION,
                new,
            )


def _known_tables(
    described: list[dict[str, Any]], body: memoryview
) -> tuple[list[dict[str, Any]], list[bytes], list[str]]:
    """Return the tables that this version knows: descriptions, bytes, and names of what is gone."""
    from tidscope_wire.table_streams import decode_table, encode_table

    at = len(body) - sum(one["bytes"] for one in described)
    if at < 0 or any(one["bytes"] < 0 for one in described):
        raise ValueError("tables are longer than the frame")
    known, encoded, unknown = list[dict[str, Any]](), list[bytes](), list[str]()
    for one in described:
        data = body[at : at + one["bytes"]]
        at += one["bytes"]
        name = one["name"]
        if name not in COLUMNS:
            unknown.append(f"table {name}")
            continue
        table = encode_table(name, decode_table(name, data, newer=True))
        encoded.append(table)
        known.append(one | {"bytes": len(table)})
    return known, encoded, unknown
