"""What a run says of a proof, and the picture of it."""

import xml.etree.ElementTree as ET

from tidscope_backend.proving.picture import draw_proof
from tidscope_backend.proving.result import MeasuredInterval, ProofResult, read_proof
from tidscope_backend.proving.svg import ticks
from tidscope_wire.generated.models import ProofState, RunEvent, SteeringDecided, SteeringProven

SVG = "{http://www.w3.org/2000/svg}"


def decided(
    number: int, *, with_policy: bool | None, ops: float = 100, counted: bool = True
) -> SteeringDecided:
    return SteeringDecided(
        type="steering_decided",
        policy="fixed",
        number=number,
        at_ns=10**9 * (100 + number),
        elapsed_s=1.0,
        ops=ops,
        mean_wait_s=None,
        size=2,
        next_size=2,
        proposed=None,
        state="s",
        reason="r",
        counted=counted,
        probing=False,
        with_policy=with_policy,
    )


def state(**changes: object) -> ProofState:
    usual = ProofState(
        verdict="better",
        pairs=4,
        discarded=0,
        gain_percent=10.0,
        low_percent=4.0,
        high_percent=17.0,
        lost_s=-2.0,
        elapsed_s=100.0,
        steers=True,
        text="The policy is better: <+10%>.",
    )
    return usual.model_copy(update=changes)


def events(*found: SteeringDecided | SteeringProven) -> list[RunEvent]:
    return [RunEvent(seq=1, time_ns=1, unix_us=1, event=one) for one in found]


def test_the_last_proof_of_a_run_is_read() -> None:
    proven = SteeringProven(type="steering_proven", policy="fixed", proof=state())
    found = read_proof(
        events(
            decided(1, with_policy=True, ops=999),
            decided(1, with_policy=False),
            decided(2, with_policy=True, ops=0, counted=False),
            decided(3, with_policy=True, ops=120),
            proven,
        )
    )
    assert found.intervals == [
        MeasuredInterval(1.0, 100.0, 2, with_policy=False),
        MeasuredInterval(3.0, 120.0, 2, with_policy=True),
    ]
    assert found.state == state()


def test_a_run_without_one_has_none() -> None:
    assert read_proof([]) == ProofResult([], None)
    assert read_proof(events(decided(1, with_policy=None))) == ProofResult([], None)


def test_the_picture_has_every_interval_and_the_gain() -> None:
    intervals = [MeasuredInterval(at, 90.0 + at, 2, with_policy=at % 4 > 1) for at in range(1, 13)]
    drawn = ET.fromstring(draw_proof(ProofResult(intervals, state()), "fixed & friends"))
    assert len(drawn.findall(f"{SVG}circle[{SVG}title]")) == 12
    texts = "".join(drawn.itertext())
    for text in ("fixed & friends", "The policy is better: <+10%>.", "+10.0 %", "+4.0", "+17.0"):
        assert text in texts


def test_what_is_not_known_is_not_drawn() -> None:
    drawn = "".join(ET.fromstring(draw_proof(ProofResult([], None), "t")).itertext())
    assert "The proof did not end." in drawn
    unknown = state(low_percent=None, high_percent=None)
    drawn = "".join(ET.fromstring(draw_proof(ProofResult([], unknown), "t")).itertext())
    assert "+10.0 %" in drawn
    assert "+17.0" not in drawn


def test_axes_have_few_round_values() -> None:
    assert ticks(8) == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    assert ticks(1100) == [0, 200, 400, 600, 800, 1000]
    for highest in (0.3, 1, 7, 19, 55, 130, 999, 12345, 3e6):
        assert 4 <= len(ticks(highest)) <= 9
        assert ticks(highest)[-1] <= highest
