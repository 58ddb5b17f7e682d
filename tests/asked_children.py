"""Children that read other processes for a collector within the test's own process."""

import os

from processes import start_ticks
from tidscope_collector.confinement.children import LimitedChildren
from tidscope_collector.inspection.asking import ANSWER_BYTES, about_process, children

PATIENCE_S = 120.0


def wait_for_children(asked: LimitedChildren | None = None) -> None:
    """Wait until a fork server answers: deadlines of questions leave no time for its start.

    Args:
        asked: client of the fork server; None for that of this process, which is started.
    """
    about = about_process(os.getpid(), start_ticks(os.getpid()))
    server = children() if asked is None else asked
    reply = server.ask("agent_socket", about, deadline_s=PATIENCE_S, most_bytes=ANSWER_BYTES)
    assert reply.ended
