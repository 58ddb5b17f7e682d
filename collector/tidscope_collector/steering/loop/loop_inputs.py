"""Inputs of a control loop: its knob and signal, requested settings, and requests."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from tidscope_policies.arbitration.division import Claim
from tidscope_policies.contract import Bounds

from tidscope_collector.agent.client import AgentClientError
from tidscope_collector.steering.loop.knob import Knob, KnobError
from tidscope_collector.steering.loop.signals import (
    ResponseTimes,
    Signal,
    SignalLostError,
    SignalRefusedError,
)

STEERING_ERRORS = (KnobError, SignalLostError, SignalRefusedError, AgentClientError)
"""Losses that a control loop survives by opening its knob and signal again."""


@dataclass(frozen=True)
class ControlSetup:
    """The knob and signal of a control loop.

    Attributes:
        knob: knob, closed by the loop after the signal.
        signal: signal to steer on.
        restart_requested: returns True if the program requested a new search since the last call.
        keeps: line with {size} that sets a size permanently; None if unknown.
        times: response times of the program's jobs; None without an agent.
    """

    knob: Knob
    signal: Signal
    restart_requested: Callable[[], bool] = lambda: False
    keeps: str | None = None
    times: ResponseTimes | None = None

    def measured_by(self, signal: Signal) -> "ControlSetup":
        """Return the same knob with another signal."""
        return replace(self, signal=signal)

    def close(self) -> str:
        """Restore the original size and close both. Returns as `Knob.restore`."""
        self.signal.close()
        return self.knob.close()


@dataclass(frozen=True)
class Contender:
    """A program that the arbiter gives cores to.

    Attributes:
        label: name for people.
        claim: claim on cores.
        bounds: bounds of its size.
        cores: cores to divide among contenders with the same number; 0 for the cores that they may
            use.
        own: size that the program chose for a pool whose workers may wait; 0 if its sizes are
            cores.
    """

    label: str
    claim: Claim
    bounds: Bounds
    cores: int = 0
    own: int = 0


@dataclass(frozen=True)
class LoopSettings:
    """Complete settings of a control loop.

    Attributes:
        target: key of the target.
        attach_ns: CLOCK_MONOTONIC at attach, in nanoseconds.
        policy: name of the policy.
        parameters: all parameters of the policy.
        shadow: True to decide without acting.
        bounds: bounds, within the knob's.
        actor: label of the requester.
        contender: the program as the arbiter sees it; None if the policy does not use the arbiter.
    """

    target: str
    attach_ns: int
    policy: str
    parameters: Mapping[str, float]
    shadow: bool
    bounds: Bounds
    actor: str
    contender: Contender | None = None


@dataclass(frozen=True)
class RestartRequest:
    """A request for a new search."""

    reason: str
    actor: str


@dataclass(frozen=True)
class GrantChange:
    """A new grant of the arbiter."""
