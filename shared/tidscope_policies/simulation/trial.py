"""One run of a policy on a scenario: deterministic by its seed."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import inf, log

import numpy as np

from tidscope_policies.contract import Observation, Part, Peers
from tidscope_policies.coordinator import Coordinator
from tidscope_policies.dip_gate import typical_progress
from tidscope_policies.registry import ReadyPolicy
from tidscope_policies.simulation.scenario import Scenario
from tidscope_policies.simulation.simulated_pools import (
    MISSING,
    STEP_S,
    Disturbances,
    Ints,
    SimulatedPools,
    draw_disturbances,
)

CLIENTS = 64
"""Jobs in the system. Jobs without a thread wait; Little's law gives the mean wait."""
HARDLY_ANY = 1e-12
"""Tolerance of times, which are sums of steps."""


@dataclass(frozen=True, slots=True)
class Move:
    """A decision: its time, program and size."""

    at_s: float
    process: int
    size: int


@dataclass(slots=True)
class Trial:
    """Record of one simulated run.

    Attributes:
        done: noise-free throughput in each step, by program; None while it does not run.
        best: throughput of each program at the best sizes.
        decisions: all of them.
        switches: number of changes of size.
        phase_starts_s: times of permanent changes in the simulated pools; the first is 0.
    """

    done: list[tuple[float | None, ...]] = field(default_factory=list)
    best: list[tuple[float, ...]] = field(default_factory=list)
    decisions: list[Move] = field(default_factory=list)
    switches: int = 0
    phase_starts_s: list[float] = field(default_factory=list)


@dataclass(slots=True)
class _Program:
    """A steered program while it runs."""

    at: int
    ready: ReadyPolicy
    size: int
    begun: int
    pending: tuple[float, int] | None = None
    parts: list[Part] = field(default_factory=list)
    uncounted: deque[float] = field(default_factory=deque)
    waited_s: float = 0.0
    moved: bool = False
    steps: int = 1

    def __post_init__(self) -> None:
        self.steps = max(1, round(self.ready.interval_s / STEP_S))


class Simulation:
    """Simulation that drives policies against simulated pools.

    Args:
        scenario: the scenario.
        make: makes a fresh policy for each program that starts.
        seed: of noise, dips and phases.
        one_dip_s: start of a single dip; None for no such dip.
        one_dip_percent: throughput in the dip, in percent; None for the scenario's value.
    """

    def __init__(
        self,
        scenario: Scenario,
        make: Callable[[], ReadyPolicy],
        seed: int,
        one_dip_s: float | None = None,
        one_dip_percent: float | None = None,
    ) -> None:
        self._scenario = scenario
        self._make = make
        count = len(scenario.processes)
        self._disturbances = [
            draw_disturbances(scenario, at, seed, one_dip_s, one_dip_percent) for at in range(count)
        ]
        self._pools = SimulatedPools(
            scenario, [[p for _, p in each.phases] for each in self._disturbances]
        )
        self._coordinator = Coordinator()
        self._running: dict[int, _Program] = {}
        self._until_s = 0.0
        self._missing = [np.random.default_rng([seed, at, MISSING]) for at in range(count)]
        self._left = [1.0] * count
        """Work until the next operation ends, by program."""
        self.trial = Trial()

    def run(self) -> Trial:
        """Run to the end."""
        before: Ints = ()
        phases: Ints = ()
        for step in range(round(self._scenario.seconds / STEP_S)):
            now = step * STEP_S
            self._start_and_stop_programs(step, now)
            if now >= self._until_s:
                phases = self._phases_at(now)
                self._hide_changes(before, phases)
            if phases != before:
                self.trial.phase_starts_s.append(now)
                before = phases
            self._advance(step, now, phases)
            self._decide(step, now + STEP_S)
        return self.trial

    def _phases_at(self, now: float) -> Ints:
        """Phases in effect; notes when the next one begins, of any program that runs then."""
        ends = [end for each in self._disturbances for end, _ in each.phases]
        for process in self._scenario.processes:
            ends += [process.from_s, process.until_s or inf]
        self._until_s = min((end for end in ends if end > now), default=inf)
        return tuple(
            _phase_at(self._disturbances[at], now) if at in self._running else -1
            for at in range(len(self._disturbances))
        )

    def _hide_changes(self, before: Ints, phases: Ints) -> None:
        for at, program in self._running.items():
            if (
                before
                and before[at] not in (-1, phases[at])
                and self._pools.is_unseen(at, phases[at])
            ):
                self._pools.hide(at, before[at], phases[at], program.size)

    def _start_and_stop_programs(self, step: int, now: float) -> None:
        for at, process in enumerate(self._scenario.processes):
            alive = process.from_s <= now < (process.until_s or inf)
            if alive and at not in self._running:
                self._restart_all("another program joined")
                self._running[at] = _Program(at, self._make(), self._scenario.own_size, step)
                self._coordinator.join(str(at))
            elif not alive and at in self._running:
                del self._running[at]
                self._coordinator.leave(str(at))
                self._restart_all("another program left")

    def _restart_all(self, reason: str) -> None:
        for program in self._running.values():
            program.ready.policy.restart(reason)

    def _advance(self, step: int, now: float, phases: Ints) -> None:
        """Advance one step of time, split where a change of size takes effect."""
        count = len(self._disturbances)
        ops, steady = [0.0] * count, [0.0] * count
        clean, lost = [0.0] * count, [0.0] * count
        soon = now + STEP_S - HARDLY_ANY
        waiting = [one.pending[0] for one in self._running.values() if one.pending]
        cuts = sorted({cut for cut in waiting if cut < soon})
        begin = now
        for end in (*cuts, now + STEP_S):
            sizes = tuple(
                self._running[at].size if at in self._running else 1 for at in range(count)
            )
            rates = self._pools.capacities(sizes, phases)
            for at in self._running:
                rate = rates[at] * self._disturbances[at].levels[step]
                noisy = rate * self._disturbances[at].factors[step]
                steady[at] += (end - begin) * self._pools.limited(at, phases[at], noisy)
                noisy *= self._disturbances[at].dips[step]
                ops[at] += (end - begin) * self._pools.limited(at, phases[at], noisy)
                clean[at] += (end - begin) * self._pools.limited(at, phases[at], rate)
            begin = end
            for at, program in self._running.items():
                if program.pending and program.pending[0] <= end + HARDLY_ANY:
                    program.size, program.pending = program.pending[1], None
                    program.moved = True
                    lost[at] += self._scenario.change_cost_s
        for at, program in self._running.items():
            left = max(0.0, 1 - lost[at] / STEP_S)
            done = ops[at] * left
            if self._disturbances[at].work is not None:
                done = self._ended(at, steady[at] * left, self._disturbances[at].dips[step])
            program.uncounted.append(done)
            late = len(program.uncounted) > round(self._scenario.processes[at].lag_s / STEP_S)
            program.parts.append(Part(STEP_S, program.uncounted.popleft() if late else 0.0))
            queued = max(0, CLIENTS - program.size)
            program.waited_s += queued * STEP_S if ops[at] * left else 0.0
            clean[at] *= left / STEP_S
        self.trial.done.append(
            tuple(clean[at] if at in self._running else None for at in range(count))
        )
        levels = [each.levels[step] for each in self._disturbances]
        self.trial.best.append(
            tuple(
                self._pools.limited(at, phases[at], rate * levels[at])
                for at, rate in enumerate(self._pools.best(phases))
            )
        )

    def _ended(self, at: int, work: float, dip: float) -> float:
        """Number of whole operations that end within an amount of work.

        Those that would end in a dip are lost, all but this share: so the operations after it, and
        with them the noise, are those of the run without it.
        """
        stream, spread = self._disturbances[at].work, self._scenario.processes[at].work_sd
        if stream is None or spread is None:
            return work
        self._left[at] -= work
        ended = 0
        while self._left[at] <= 0:
            self._left[at] += float(stream.lognormal(-0.5 * spread**2, spread))
            ended += 1
        return float(round(ended * dip))

    def _decide(self, step: int, now: float) -> None:
        due = [
            program
            for program in self._running.values()
            if (step + 1 - program.begun) % program.steps == 0
        ]
        if not due:
            return
        seen = {program.at: self._observe(program, now) for program in due}
        for program in due:
            name = str(program.at)
            elsewhere = self._coordinator.is_probing_elsewhere(name, now)
            decided = program.ready.policy.observe(
                replace(seen[program.at], probing_elsewhere=elsewhere)
            )
            has_token = self._coordinator.request_turn(name, now, probing=decided.probing)
            size = decided.size if has_token or not decided.probing else program.size
            self.trial.decisions.append(Move(now, program.at, size))
            if size != program.size:
                program.pending = (now + self._scenario.change_delay_s, size)
                self.trial.switches += 1
            else:
                program.pending = None
            program.parts, program.waited_s = [], 0.0
        for program in due:
            program.moved = False

    def _observe(self, program: _Program, now: float) -> Observation:
        ops = sum(part.ops for part in program.parts)
        others = [other for other in self._running.values() if other is not program]
        return Observation(
            at_s=now,
            elapsed_s=len(program.parts) * STEP_S,
            ops=ops,
            size=program.size,
            bounds=self._scenario.bounds,
            parts=tuple(program.parts),
            mean_wait_s=program.waited_s / ops if ops else None,
            jobs=round(ops),
            peers=Peers(
                1 + len(others), _log_sum(others, len(program.parts)), any(o.moved for o in others)
            ),
            original=self._scenario.own_size,
            paused=self._missing[program.at].random() < self._scenario.missing_percent / 100,
        )


def _log_sum(others: Sequence[_Program], steps: int) -> float | None:
    total = 0.0
    for other in others:
        progress = typical_progress(other.parts[-steps:])
        if not progress:
            return None
        total += log(progress)
    return total


def _phase_at(found: Disturbances, now: float) -> int:
    return next(at for at, (end, _) in enumerate(found.phases) if now < end)
