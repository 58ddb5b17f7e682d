"""What a request asks of the arbiter."""

import pytest
from tidscope_collector.steering.loop.knob import KnobDescription
from tidscope_collector.steering.plan import SteeringPlan
from tidscope_collector.steering.refusals import BadParameterError
from tidscope_policies.arbitration.division import Claim
from tidscope_policies.contract import Bounds, CoreShare, Grant, Observation, Peers
from tidscope_policies.registry import POLICIES
from tidscope_wire.generated.models import ProofPlan, SteerRequest

KNOB = KnobDescription("go-agent", 1, 8, 8)


def test_claims() -> None:
    asked = SteerRequest(policy="arbiter", share=2.5, floor=3)
    plan = SteeringPlan.of(asked)
    assert plan.claim == Claim(2.5, 3, 0)
    assert plan.bounds(KNOB, asked) == Bounds(1, 8)
    assert SteeringPlan.of(SteerRequest(policy="arbiter")).claim == Claim()
    assert SteeringPlan.of(SteerRequest(policy="linear")).claim is None


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (SteerRequest(policy="linear", floor=0), "for the policy arbiter, not linear"),
        (SteerRequest(policy="arbiter", shadow=True), "shadow mode"),
        (SteerRequest(policy="arbiter", proof=ProofPlan()), "a proof is of one program"),
    ],
    ids=["another-policy", "shadow", "proof"],
)
def test_what_cannot_be_claimed(asked: SteerRequest, words: str) -> None:
    with pytest.raises(BadParameterError, match=words):
        SteeringPlan.of(asked)


def test_a_floor_above_the_largest_size_is_refused() -> None:
    asked = SteerRequest(policy="arbiter", floor=5, upper=4)
    with pytest.raises(BadParameterError, match="the floor 5 is above the largest size 4"):
        SteeringPlan.of(asked).bounds(KNOB, asked)


@pytest.mark.parametrize(
    ("cores", "peers", "given", "size"),
    [
        (CoreShare(8, 4), Peers(2), {}, 4),
        (None, Peers(2), {}, 4),
        (CoreShare(8, 4), Peers(2), {"cores": 4}, 2),
        (None, None, {}, 8),
    ],
    ids=["share", "unknown", "named", "alone"],
)
def test_without_a_division_it_is_the_equal_share(
    cores: CoreShare | None, peers: Peers | None, given: dict[str, float], size: int
) -> None:
    policy = POLICIES["arbiter"].make(given).policy
    seen = Observation(2.0, 2.0, 100.0, 8, Bounds(1, 8), peers=peers, cores=cores)
    assert policy.observe(seen).size == size


def test_it_follows_the_arbiter() -> None:
    policy = POLICIES["arbiter"].make().policy
    grant = Grant(3, 8, 2, "trying", "It may do more.", "try", 1.0, 0.1, 0.2)
    decided = policy.observe(Observation(2.0, 2.0, 1.0, 8, Bounds(1, 8), grant=grant))
    assert (decided.size, decided.state) == (3, "trying")
    assert decided.reason == "3 of 8 cores. It may do more."
    policy.restart("asked for")
    assert policy.observe(Observation(3.0, 1.0, 1.0, 3, Bounds(1, 8), grant=grant)) == decided
