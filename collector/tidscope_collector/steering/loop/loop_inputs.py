"""Inputs of a control loop: its knob and signal, and the settings that were asked for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from tidscope_policies.arbitration.division import Claim
from tidscope_policies.contract import Bounds
from tidscope_policies.sweep.sweep import PoolKind

from tidscope_collector.steering.loop.knob import Knob
from tidscope_collector.steering.loop.signals import ResponseTimes, Signal


@dataclass(frozen=True)
class ControlSetup:
    """The knob and signal of a control loop.

    Attributes:
        knob: closed by the loop, after the signal.
        signal: what is steered on.
        restart_requested: whether the program asked for a new search since the last call.
        pool: what the knob turns, for the line that sets a size for good; None: not known.
        times: response times of the program's jobs; None: it has no agent.
    """

    knob: Knob
    signal: Signal
    restart_requested: Callable[[], bool] = lambda: False
    pool: PoolKind | None = None
    times: ResponseTimes | None = None

    def measured_by(self, signal: Signal) -> "ControlSetup":
        """The same knob with another signal."""
        return replace(self, signal=signal)

    def close(self) -> str:
        """Restore the original size and close both; returns what `Knob.restore` does."""
        self.signal.close()
        return self.knob.close()


@dataclass(frozen=True)
class Contender:
    """A program that the arbiter gives cores to.

    Attributes:
        label: its name for people.
        claim: what it asks for.
        bounds: of its size.
        cores: to divide among those that name the same number; 0: those that they may use.
    """

    label: str
    claim: Claim
    bounds: Bounds
    cores: int = 0


@dataclass(frozen=True)
class LoopSettings:
    """Settings of a control loop, complete.

    Attributes:
        target: identity of the target.
        attach_ns: CLOCK_MONOTONIC of its attachment.
        policy: name.
        parameters: all of them.
        shadow: decide, but do not act.
        bounds: within those of the knob.
        actor: who asked.
        contender: how the arbiter sees the program; None: the policy does not ask it.
    """

    target: str
    attach_ns: int
    policy: str
    parameters: Mapping[str, float]
    shadow: bool
    bounds: Bounds
    actor: str
    contender: Contender | None = None
