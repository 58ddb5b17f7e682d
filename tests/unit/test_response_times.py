"""The 99th percentile of response times, and the proof that compares it."""

import pytest
from policy_harness import seen
from tidscope_collector.steering.loop.interval_meter import IntervalMeter
from tidscope_collector.steering.loop.proof_reports import NOT_SEEN, proof_state
from tidscope_collector.steering.signals.signal import Count
from tidscope_policies.contract import Bounds, Decision, Observation
from tidscope_policies.proving.proof import Proof
from tidscope_policies.proving.record import ProofSettings
from tidscope_policies.proving.response_times import add_up, p99


def test_the_percentile_is_within_its_entry() -> None:
    # 500 jobs between 2^20 and 2^21 ns, evenly by their logarithms.
    assert p99([0] * 10 + [500, 500]) == pytest.approx(2**20.98 / 1e9)
    # All of them between 2^19 and 2^20 ns: it may be anywhere.
    assert p99([0] * 10 + [1000]) is None
    # Of 98 + 2, the 99th of 100 is the first of the two.
    assert p99([98, 0, 0, 2]) == pytest.approx(2**12.5 / 1e9)
    assert p99([99]) is None
    assert p99([]) is None


def test_histograms_are_added() -> None:
    assert add_up([(1, 2), (), (1, 1, 1)]) == (2, 3, 1)
    assert add_up([]) == ()


def test_an_interval_has_the_jobs_that_ended_in_it() -> None:
    meter = IntervalMeter(Count(1.0, 5), 2, (3, 4))
    assert meter.responses((3, 6, 1)) == (0, 2, 1)
    # The program's part that counts was started again.
    assert meter.responses((1, 6)) == ()
    assert IntervalMeter(Count(1.0, 5), 2).responses(()) == ()


class Jump:
    """Wants one size."""

    def observe(self, _: Observation) -> Decision:
        return Decision(8, "jumped", "Because.")

    def restart(self, reason: str) -> None:
        raise AssertionError(reason)


def prove(slow: tuple[int, ...], usual: tuple[int, ...]) -> Proof:
    """Ten pairs of a policy that changes response times only."""
    proof = Proof(Jump(), ProofSettings(block_s=4, smallest=0.001, most_s=190))
    size = 4
    for at in range(1, 96):
        made = seen(1000 + at % 3, size, at, Bounds(1, 16))
        responses = slow if size == 8 else usual
        decided = proof.observe(
            Observation(
                **{name: getattr(made, name) for name in ("at_s", "elapsed_s", "ops", "bounds")},
                size=size,
                responses=responses,
            )
        )
        size = decided.size
        if decided.release:
            break
    return proof


def test_a_proof_shows_how_the_percentile_changes() -> None:
    proof = prove(slow=(0,) * 11 + (250, 250), usual=(0,) * 10 + (250, 250))
    found = proof_state(proof)
    assert found.p99 is not None
    assert found.p99.percent == pytest.approx(100)
    assert found.p99.low_percent == pytest.approx(100)
    assert found.p99_missing is None
    assert "99th percentile of response times: +100.0% [+100.0%, +100.0%]." in found.text


def test_it_says_why_there_is_none() -> None:
    proof = prove(slow=(0,) * 11 + (500,), usual=(0,) * 10 + (500,))
    assert (proof_state(proof).p99, proof_state(proof).p99_missing) == (None, NOT_SEEN)
    proof = prove(slow=(1,), usual=(1,))
    assert proof_state(proof).p99 is None
    assert proof_state(proof).p99_missing == NOT_SEEN
    assert proof_state(proof, "No agent.").p99_missing == "No agent."
    assert "percentile" not in proof_state(proof).text
