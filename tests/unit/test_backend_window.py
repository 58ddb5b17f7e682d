"""How far a page may be behind."""

import pytest
from tidscope_backend.stream.fanout import SendWindow
from tidscope_wire.generated.limits import MAX_UNACKNOWLEDGED_BYTES, MAX_UNACKNOWLEDGED_FRAMES
from tidscope_wire.problems import ProblemError


def telling() -> SendWindow:
    window = SendWindow()
    window.acknowledge(0)
    return window


def test_a_page_that_never_tells_gets_everything() -> None:
    window = SendWindow()
    for _ in range(10 * MAX_UNACKNOWLEDGED_FRAMES):
        window.sent(MAX_UNACKNOWLEDGED_BYTES)
    assert window.open


def test_it_closes_with_the_last_frame_that_fits_and_opens_with_the_first_taken() -> None:
    window = telling()
    for sent in range(MAX_UNACKNOWLEDGED_FRAMES):
        assert window.open, sent
        window.sent(1)
    assert not window.open
    window.acknowledge(1)
    assert window.open


def test_bytes_count_too_but_one_frame_may_always_go() -> None:
    window = telling()
    window.sent(2 * MAX_UNACKNOWLEDGED_BYTES)
    assert not window.open
    window.acknowledge(1)
    assert window.open
    window.sent(MAX_UNACKNOWLEDGED_BYTES - 1)
    assert window.open
    window.sent(1)
    assert not window.open
    window.acknowledge(2)
    assert window.open


@pytest.mark.parametrize("frames", [1, 5])
def test_what_cannot_be_is_refused_and_changes_nothing(frames: int) -> None:
    window = telling()
    window.sent(1)
    window.sent(1)
    window.acknowledge(2)
    with pytest.raises(ProblemError):
        window.acknowledge(frames)
    window.sent(1)
    window.acknowledge(3)
