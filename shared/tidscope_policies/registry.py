"""All policies by name, and the factory of each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal

from tidscope_policies.algorithms.ait import Ait, AitParameters, AitPrinted, AitPrintedParameters
from tidscope_policies.algorithms.bidirectional import (
    Bidirectional,
    BidirectionalParameters,
    BidirectionalPrinted,
    BidirectionalPrintedParameters,
)
from tidscope_policies.algorithms.fixed import (
    Arbitrated,
    ArbitratedParameters,
    Fixed,
    FixedParameters,
)
from tidscope_policies.algorithms.hillclimb import Hillclimb, HillclimbParameters
from tidscope_policies.algorithms.kalman_kg import (
    Cooperative,
    CooperativeParameters,
    KalmanKg,
    KalmanKgParameters,
)
from tidscope_policies.algorithms.linear import Linear, LinearParameters
from tidscope_policies.algorithms.pss import Learner, Pss, PssParameters
from tidscope_policies.contract import (
    PART_S,
    Bounds,
    CoreShare,
    Grant,
    Observation,
    Part,
    Peers,
    Policy,
)
from tidscope_policies.decorators import Bounded, Pauses, Shadow, Share, WarmUp
from tidscope_policies.dip_gate import DipGate
from tidscope_policies.lag import Lag
from tidscope_policies.parameters import (
    ParameterError,
    ParameterInfo,
    Values,
    describe,
    make_parameters,
)
from tidscope_policies.proving.evidence import ProofSettings
from tidscope_policies.proving.proof import Proof
from tidscope_policies.sweep.sweep import INTERVAL_S, Sweep, SweepSettings

Signal = Literal["progress", "wait"]
STEADY_OPS = 10_000.0
STEADY_WAIT_S = 0.001
"""Progress (operations a second) and queue wait of a simulated steady program."""


@dataclass(frozen=True, slots=True)
class ReadyPolicy:
    """A policy ready for observations.

    Attributes:
        policy: fresh policy with its decorators.
        interval_s: interval of observations, in seconds.
        proof: the enclosing proof; None if the policy just steers.
        sweep: the sweep; None for other policies.
    """

    policy: Policy
    interval_s: float
    proof: Proof | None = None
    sweep: Sweep | None = None


@dataclass(frozen=True, slots=True)
class PolicyEntry(Generic[Values]):
    """Catalogue entry of one policy.

    Attributes:
        name: name that people type.
        meaning: one sentence.
        source: publication, or ours.
        kind: class of the parameters.
        core: makes the policy without the common decorators.
        signal: steering signal: progress, or the queue wait of jobs.
        taught: makes the policy with a shared learner; None if it does not learn.
        arbitrated: the host's arbiter sets the programs' sizes; alone, a program has nothing to
            decide.
    """

    name: str
    meaning: str
    source: str
    kind: type[Values]
    core: Callable[[Values], Policy]
    signal: Signal = "progress"
    taught: Callable[[Values, Learner], Policy] | None = None
    arbitrated: bool = False

    @property
    def parameters(self) -> list[ParameterInfo]:
        """Parameters that can be set."""
        return describe(self.kind)

    def make(
        self,
        given: Mapping[str, float] | None = None,
        *,
        shadow: bool = False,
        proof: ProofSettings | None = None,
        learner: Callable[[Values], Learner] | None = None,
    ) -> ReadyPolicy:
        """Build the policy with its decorators.

        Args:
            given: parameters that differ from their defaults.
            shadow: decide, but do not act.
            proof: prove it against the program's own size; not in shadow mode.
            learner: shared learner of a learning policy; None for a private one.

        Raises:
            ParameterError: a name or a value is wrong.
        """
        values = make_parameters(self.kind, given or {})
        if learner is not None and self.taught is not None:
            core = self.taught(values, learner(values))
        else:
            core = self.core(values)
        policy: Policy = Bounded(Pauses(core))
        if proof is not None:
            if shadow:
                raise ParameterError("a proof has to act: it cannot be made in shadow mode")
            proving = Proof(policy, proof)
            return ReadyPolicy(proving, values.interval_s, proving)
        return ReadyPolicy(Shadow(policy) if shadow else policy, values.interval_s)


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """Decisions of a policy for a program with constant progress.

    A real program usually takes longer: intervals are longer, and may not count.

    Attributes:
        chooses: number of the decision that first chooses a size; None if none does.
        rests: number of the decision with which the policy comes to rest; None if it does not.
    """

    chooses: int | None
    rests: int | None


KEPT = 2
"""Consecutive decisions that choose the same size, after which a policy is at rest."""


def rehearse(
    ready: ReadyPolicy,
    bounds: Bounds,
    size: int,
    *,
    cores: int,
    programs: int = 1,
    within: int,
) -> Rehearsal:
    """Simulate a policy until it rests.

    Args:
        ready: a fresh policy, consumed by the simulation.
        bounds: allowed sizes.
        size: initial size of the pool.
        cores: cores that all programs may use.
        programs: number of programs steered together.
        within: maximum number of decisions.
    """
    interval_s = ready.interval_s
    count = max(1, round(interval_s / PART_S))
    parts = (Part(interval_s / count, STEADY_OPS * interval_s / count),) * count
    peers = Peers(programs, 0.0) if programs > 1 else None
    share = CoreShare(float(cores), cores / programs)
    granted = bounds.clamp(int(share.share))
    grant = Grant(granted, cores, programs, "settled", "", "estimate", 0.0, None, None)
    chooses, kept = None, 0
    for number in range(1, within + 1):
        seen = Observation(
            at_s=number * interval_s,
            elapsed_s=interval_s,
            ops=STEADY_OPS * interval_s,
            size=size,
            bounds=bounds,
            parts=parts,
            mean_wait_s=STEADY_WAIT_S,
            jobs=round(STEADY_OPS * interval_s),
            peers=peers,
            cores=share,
            grant=grant,
        )
        decided = ready.policy.observe(seen)
        if decided.chooses and chooses is None:
            chooses = number
        kept = kept + 1 if decided.chooses and decided.size == size else 0
        if kept == KEPT:
            return Rehearsal(chooses, number)
        size = decided.size
    return Rehearsal(chooses, None)


def _recommended(policy: Policy, values: LinearParameters | BidirectionalParameters) -> Policy:
    """Add the thesis' recommended decorators, where the parameters ask for them."""
    return Share(DipGate(policy) if values.dip_gate else policy, values.share)


_ENTRIES: tuple[PolicyEntry[Any], ...] = (
    PolicyEntry(
        "fixed",
        "Keeps one size.",
        "the baseline",
        FixedParameters,
        Fixed,
    ),
    PolicyEntry(
        "linear",
        "Tries every size once, from the highest down, and keeps the best until a restart.",
        "Janssen 2022, algorithm 1, corrected",
        LinearParameters,
        lambda values: WarmUp(_recommended(Linear(values), values), values.warm_up_s),
    ),
    PolicyEntry(
        "hillclimb",
        "Takes growing steps while progress rises, rests, then tries the other direction.",
        "Timm 2021, discarding external changes of the size",
        HillclimbParameters,
        Hillclimb,
    ),
    PolicyEntry(
        "bidirectional",
        "Keeps stepping while progress rises; steps back and reverses when it falls.",
        "Janssen 2022, algorithm 2, corrected",
        BidirectionalParameters,
        lambda values: _recommended(Bidirectional(values), values),
    ),
    PolicyEntry(
        "bidirectional-printed",
        "As bidirectional, with the error of the printed algorithm, to reproduce the thesis.",
        "Janssen 2022, algorithm 2, as printed",
        BidirectionalPrintedParameters,
        BidirectionalPrinted,
    ),
    PolicyEntry(
        "ait",
        "Steers on the mean queue wait of jobs.",
        "Xu 2004, as intended, with bounds",
        AitParameters,
        Ait,
        signal="wait",
    ),
    PolicyEntry(
        "ait-printed",
        "As ait, by the printed rule, which shrinks only after a step that had helped.",
        "Xu 2004, figure 6.8, as printed",
        AitPrintedParameters,
        AitPrinted,
        signal="wait",
    ),
    PolicyEntry(
        "pss",
        "Asks a perceptron whether one more thread is better.",
        "Zhang 2022, with a signed update",
        PssParameters,
        Pss,
        taught=Pss,
    ),
    PolicyEntry(
        "kalman-kg",
        "Estimates every size and measures where the expected gain is largest.",
        "ours",
        KalmanKgParameters,
        lambda values: Lag(DipGate(KalmanKg(values), by_clock=True)),
    ),
    PolicyEntry(
        "cooperative",
        "kalman-kg for several programs on one host: one explores at a time, for the common total.",
        "ours",
        CooperativeParameters,
        lambda values: Lag(DipGate(Cooperative(values), by_clock=True)),
    ),
    PolicyEntry(
        "arbiter",
        "Divides the host's cores among its programs by what each gains, with shares and floors.",
        "ours",
        ArbitratedParameters,
        Arbitrated,
        arbitrated=True,
    ),
)

SWEEP = "sweep"
"""Name of the sweep, which runs in place of a policy but cannot be chosen as one."""


def make_sweep(settings: SweepSettings) -> ReadyPolicy:
    """Make a sweep ready for observations."""
    sweep = Sweep(settings)
    return ReadyPolicy(sweep, INTERVAL_S, sweep=sweep)


POLICIES: Mapping[str, PolicyEntry[Any]] = {entry.name: entry for entry in _ENTRIES}
"""Policies by name, in display order."""
