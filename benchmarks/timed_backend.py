"""The backend, recording when each frame was received and was written to a page's socket.

Run as `tidscope` is. When a frame's sample started, and how long it took, is in the frame itself.
"""

import re
import sys
import time
from collections import deque
from typing import Any

from frame_times import after, before, note, run
from tidscope_backend.cli import main
from tidscope_backend.connections.protocols import WebSocketProtocol
from tidscope_backend.ingest.frame_ingest import FrameIngest
from tidscope_backend.stream.frames import StoredFrame
from tidscope_backend.stream.subscription import Subscription

_STARTED = re.compile(rb'"unix_us": ?(\d+)')
_TOOK = re.compile(rb'"sample_us": ?(\d+)')
_entered_ns, _started_ns, _took_ns = [0], [0], [0]
_taken: deque[int] = deque()


def _enter(_: FrameIngest, __: object, data: bytes) -> None:
    _entered_ns[0] = time.time_ns()
    for kept, pattern in ((_started_ns, _STARTED), (_took_ns, _TOOK)):
        found = pattern.search(data)
        kept[0] = int(found[1]) * 1000 if found else 0


def _receive(frame: tuple[str, int]) -> None:
    note("received", frame[1], _entered_ns[0])
    note("started", frame[1], _started_ns[0])
    note("made", frame[1], _started_ns[0] + _took_ns[0])


def _take(_: Subscription, frame: StoredFrame, __: int) -> None:
    _taken.append(frame.seq)


async def _send(self: WebSocketProtocol, message: Any) -> None:
    if message.get("bytes") and _taken:
        note("forwarded", _taken.popleft())
    await _server_send(self, message)


_server_send: Any = WebSocketProtocol.send

if __name__ == "__main__":
    before(FrameIngest, "ingest", _enter)
    after(FrameIngest, "ingest", _receive)
    before(Subscription, "_deliver", _take)
    setattr(WebSocketProtocol, _server_send.__name__, _send)
    sys.exit(run(main))
