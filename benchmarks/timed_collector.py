"""The collector, recording when each frame's sample started, and when it was made and sent.

Run as `tidscope_collector` is. Frames of rounds have their moments from compiled code.
"""

import re
import sys
import time
from typing import Any

from frame_times import after, before, note, run
from tidscope_collector import __main__ as collector
from tidscope_collector.sampling.sampled_frame import SampledFrame
from tidscope_collector.sampling.usual_round import UsualRound
from tidscope_collector.uplink.direct import DirectSender, SharedConnection
from tidscope_collector.uplink.replay import Replay

_UNIX_US = re.compile(rb'"unix_us": ?(\d+)')
_UNIX_AFTER_NS = time.time_ns() - time.monotonic_ns()
_handed_over, _given_ns = [0], [0]


def _hand_over(_: DirectSender, __: object, frame: SampledFrame) -> None:
    """Python has made a frame."""
    _handed_over[0] = frame.seq
    note("made", frame.seq)
    started = _UNIX_US.search(frame.data)
    if started is not None:
        note("started", frame.seq, int(started[1]) * 1000)


def _give(*_: object) -> None:
    _given_ns[0] = time.time_ns()


def _taken(taken: bool) -> None:
    """The connection has taken a frame; when it was given to it: the backend may have it by now."""
    if taken:
        note("sent", _handed_over[0], _given_ns[0])


def _collect(self: UsualRound) -> list[tuple[SampledFrame, bool]]:
    """Compiled code has made frames, and sent them."""
    first = self._collected
    made: list[tuple[SampledFrame, bool]] = _inner_collect(self)
    for place, (frame, sent) in enumerate(made, first):
        _, _, sample_us, started_ns, _, sent_ns = self._kept[place].tolist()
        note("started", frame.seq, _UNIX_AFTER_NS + started_ns)
        note("made", frame.seq, _UNIX_AFTER_NS + started_ns + sample_us * 1000)
        if sent:
            note("sent", frame.seq, _UNIX_AFTER_NS + sent_ns)
    return made


_inner_collect: Any = UsualRound.collect

if __name__ == "__main__":
    before(DirectSender, "add", _hand_over)
    before(SharedConnection, "send_now", _give)
    after(SharedConnection, "send_now", _taken)
    setattr(UsualRound, _inner_collect.__name__, _collect)
    before(Replay, "note_sent", lambda _, __, seq: note("sent", seq))
    sys.exit(run(collector.main))
