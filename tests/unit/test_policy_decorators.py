"""Decorators of policies, and the coordinator."""

from dataclasses import dataclass, field, replace

import pytest
from policy_harness import BOUNDS, flat, peak, pool, seen
from tidscope_policies.contract import Decision, Observation, Part, Policy
from tidscope_policies.coordinator import Coordinator
from tidscope_policies.decorators import Bounded, Pauses, Shadow, WarmUp
from tidscope_policies.dip_gate import DipGate, hodges_lehmann, typical_progress
from tidscope_policies.registry import POLICIES


@dataclass
class Scripted:
    """Decides what it was reported to, and keeps what it saw."""

    sizes: list[int]
    seen: list[Observation] = field(default_factory=list)
    restarts: list[str] = field(default_factory=list)

    def observe(self, seen: Observation) -> Decision:
        self.seen.append(seen)
        return Decision(self.sizes[len(self.seen) - 1], "scripted", "Because.", probing=True)

    def restart(self, reason: str) -> None:
        self.restarts.append(reason)


def parts(*progress: float) -> tuple[Part, ...]:
    return tuple(Part(0.25, each * 0.25) for each in progress)


def interval(*progress: float, size: int = 8, at: int = 1) -> Observation:
    """Parts of 250 ms."""
    mean = sum(progress) / len(progress)
    made = seen(mean, size, at, interval_s=0.25 * len(progress))
    return replace(made, parts=parts(*progress))


@pytest.mark.parametrize("wrap", [Bounded, Pauses, DipGate, Shadow, lambda p: WarmUp(p, 10)])
def test_restarts_reach_the_policy_inside(wrap: type[Bounded]) -> None:
    inner = Scripted([8])
    wrap(inner).restart("asked for")
    assert inner.restarts == ["asked for"]


def test_warm_up_holds_the_size_found_for_its_seconds() -> None:
    inner = Scripted([5, 5])
    policy = WarmUp(inner, 4.0)
    first = policy.observe(seen(1000, 12, at=101))
    assert (first.size, first.state) == (12, "warming up")
    assert first.reason == "The program warms up for 2.0 s more."
    assert policy.observe(seen(1000, 12, at=102)).size == 5
    policy.restart("asked for")
    assert policy.observe(seen(1000, 12, at=103)).size == 5


def test_bounded_moves_what_is_outside() -> None:
    policy = Bounded(Scripted([40, 1, 9]))
    high, low, inside = (policy.observe(seen(1000, 8, at)) for at in (1, 2, 3))
    assert (high.size, low.size, inside.size) == (16, 4, 9)
    assert high.reason == "Because. Only sizes from 4 to 16 are allowed."
    assert inside.reason == "Because."


def test_a_paused_target_teaches_nothing() -> None:
    inner = Scripted([9, 7])
    policy = Pauses(inner)
    paused = replace(seen(0, 8), paused=True)
    assert policy.observe(paused).size == 8
    assert policy.observe(seen(1000, 8)).size == 9
    # The change to 9 was not in effect yet when it stopped.
    assert policy.observe(paused).size == 9
    assert policy.observe(paused).state == "paused"
    assert len(inner.seen) == 1


def test_shadow_decides_but_does_not_act() -> None:
    inner = Scripted([5])
    decided = Shadow(inner).observe(seen(1000, 12))
    assert (decided.size, decided.proposed) == (12, 5)
    assert decided.state == "shadow: scripted"
    assert not decided.probing


def test_shadow_of_every_policy_never_moves() -> None:
    for name, entry in POLICIES.items():
        policy = entry.make(shadow=True).policy
        for at in range(1, 60):
            assert policy.observe(seen(peak(10)(13), 13, at)).size == 13, name


def test_hodges_lehmann() -> None:
    assert hodges_lehmann([3.0]) == 3.0
    assert hodges_lehmann([1.0, 2.0, 6.0]) == 2.75
    assert hodges_lehmann([10.0] * 7 + [0.0]) == 10.0


def gated(*intervals: Observation, sizes: list[int] | None = None) -> tuple[Scripted, DipGate]:
    inner = Scripted(sizes or [8] * 20)
    gate = DipGate(inner)
    for each in intervals:
        gate.observe(each)
    return inner, gate


def test_parts_in_a_dip_are_left_out() -> None:
    inner, _ = gated(interval(*[1000] * 8), interval(*[1000] * 4, 50, 50, 500, 1000))
    assert inner.seen[1].progress == 1000
    assert len(inner.seen[1].parts) == 5


def test_an_interval_mostly_in_a_dip_is_ignored() -> None:
    inner, gate = gated(interval(*[1000] * 8), interval(*[1000] * 3, *[50] * 5))
    assert len(inner.seen) == 1
    decided = gate.observe(interval(*[50] * 8))
    assert (decided.size, decided.state) == (8, "scripted")
    assert decided.reason == "Progress dipped in this interval: the size stays."


def test_five_in_a_row_are_no_dip() -> None:
    low = interval(*[300] * 8)
    inner, gate = gated(interval(*[1000] * 8), low, low, low, low)
    assert len(inner.seen) == 1
    gate.observe(low)
    gate.observe(interval(*[310] * 8))
    assert [round(each.progress) for each in inner.seen] == [1000, 300, 310]


def test_four_and_then_one_that_counts_start_the_count_again() -> None:
    low, typical = interval(*[300] * 8), interval(*[1000] * 8)
    inner, _ = gated(typical, low, low, low, low, typical, low, low, low, low)
    assert [each.progress for each in inner.seen] == [1000, 1000]


def test_the_first_two_parts_after_a_change_are_left_out() -> None:
    changing = interval(700, 800, *[1000] * 6, size=9)
    inner, _ = gated(interval(*[1000] * 8), changing, changing, sizes=[9, 9, 9])
    assert [each.progress for each in inner.seen] == [1000, 1000, 1000]
    assert [len(each.parts) for each in inner.seen] == [8, 6, 8]


def test_half_of_the_parts_are_enough() -> None:
    inner, _ = gated(interval(*[1000] * 8), interval(*[900] * 4, *[50] * 4))
    assert inner.seen[1].progress == 900


def test_without_parts_the_interval_is_taken_as_it_is() -> None:
    inner, _ = gated(interval(*[1000] * 8), replace(seen(50, 8), parts=()))
    assert inner.seen[1].progress == 50


def test_after_a_restart_the_level_is_learnt_again() -> None:
    inner, gate = gated(interval(*[1000] * 8))
    gate.restart("another phase")
    gate.observe(interval(*[100] * 8))
    assert inner.seen[1].progress == 100


def test_the_gate_hides_a_dip_from_a_policy_that_would_turn() -> None:
    bare = pool("bidirectional", peak(4))
    assert bare.run(5, dips={3: 0.05}) == [16, 15, 14, 15, 16]
    policy: Policy = DipGate(POLICIES["bidirectional"].make().policy)
    behind = pool("bidirectional", peak(4))
    behind.policy = policy
    assert behind.run(5, dips={3: 0.05}) == [16, 15, 14, 14, 13]


def test_a_steady_program_passes_unchanged() -> None:
    inner, _ = gated(*(seen(flat(8), 8, at) for at in range(1, 9)))
    assert [each.progress for each in inner.seen] == [1000.0] * 8
    assert inner.seen[0].bounds == BOUNDS


def test_a_dip_in_few_parts_does_not_move_the_progress_of_an_interval() -> None:
    noisy = [1040.0, 960.0, 1010.0, 990.0, 1020.0, 980.0, 1030.0, 970.0]
    calm = typical_progress(parts(*noisy))
    assert calm == pytest.approx(1000)
    for dipped in (1, 2, 3):
        found = typical_progress(parts(*[50.0] * dipped, *noisy[dipped:]))
        assert found == typical_progress(parts(*noisy[dipped:])), dipped
    assert typical_progress(parts(*[50.0] * 6, 1000.0, 1000.0)) < 0.6 * calm
    # A part without operations is no dip where operations are few.
    assert typical_progress(parts(*[0.0] * 6, 4.0, 4.0)) == pytest.approx(1.0)
    assert typical_progress(()) == 0.0


def test_the_first_that_asks_has_it_until_it_is_done() -> None:
    token = Coordinator()
    assert not token.is_probing_elsewhere("a", 0)
    assert token.request_turn("a", 0, probing=True)
    assert token.is_probing_elsewhere("b", 0)
    assert not token.is_probing_elsewhere("a", 2)
    assert not token.request_turn("b", 2, probing=True)
    assert not token.request_turn("a", 4, probing=False)
    assert not token.is_probing_elsewhere("b", 4)
    assert token.request_turn("b", 4, probing=True)


def test_only_its_holder_gives_it_back() -> None:
    token = Coordinator()
    token.request_turn("a", 0, probing=True)
    token.request_turn("b", 1, probing=False)
    assert token.is_probing_elsewhere("b", 1)


def test_a_holder_heard_of_no_more_loses_it_with_its_lease() -> None:
    token = Coordinator(lease_s=10)
    token.request_turn("a", 0, probing=True)
    token.request_turn("a", 5, probing=True)
    assert token.is_probing_elsewhere("b", 14.9)
    assert not token.is_probing_elsewhere("b", 15)
    assert token.request_turn("b", 15, probing=True)
    assert token.is_probing_elsewhere("a", 15)


def test_one_that_holds_it_for_long_lets_the_others_have_it_once() -> None:
    token = Coordinator(longest_s=60)
    token.join("a")
    token.join("b")
    for now in range(0, 60, 2):
        assert token.request_turn("a", now, probing=True)
    assert not token.request_turn("a", 60, probing=True)
    assert token.request_turn("b", 60, probing=True)
    assert token.is_probing_elsewhere("a", 62)


def test_alone_it_is_held_as_long_as_wanted() -> None:
    token = Coordinator(longest_s=60)
    token.join("a")
    assert all(token.request_turn("a", now, probing=True) for now in range(0, 600, 2))


def test_members_and_a_holder_that_leaves() -> None:
    token = Coordinator()
    for name in ("a", "b", "a"):
        token.join(name)
    assert list(token.members) == ["a", "b"]
    token.request_turn("a", 0, probing=True)
    token.leave("a")
    token.leave("unknown")
    assert list(token.members) == ["b"]
    assert not token.is_probing_elsewhere("b", 0)
