"""The collector, with noted when the sample of each frame started, and when it was made and sent.

Run as `tidscope_collector` is.
"""

import sys
import time

from frame_times import after, before, note, run
from tidscope_collector import __main__ as collector
from tidscope_collector.sampling.frame_maker import FrameMaker
from tidscope_collector.sampling.sampled_frame import SampledFrame
from tidscope_collector.sampling.target import TargetSampler
from tidscope_collector.uplink.replay import Replay

_started_ns = [0]


def _start(*_: object) -> None:
    _started_ns[0] = time.time_ns()


def _made(frames: list[SampledFrame]) -> None:
    for frame in frames:
        note("started", frame.seq, _started_ns[0])
        note("made", frame.seq)


if __name__ == "__main__":
    before(TargetSampler, "read", _start)
    after(FrameMaker, "sample", _made)
    before(Replay, "note_sent", lambda _, __, seq: note("sent", seq))
    sys.exit(run(collector.main))
