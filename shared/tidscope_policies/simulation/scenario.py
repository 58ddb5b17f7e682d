"""What a policy is tried on: programs, noise and dips. docs/controllers.md explains the format."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tidscope_policies.contract import Bounds

FromZero = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Size = Annotated[int, Field(ge=1, le=1024)]
DAY_S = 24 * 3600


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Phase(_Table):
    """A stretch of a program's life. `best` sets kappa so that this size is the best one."""

    seconds: Positive
    scale: Positive = 1.0
    best: Positive | None = None


class RandomPhases(_Table):
    """Phases of `shortest_s` plus an exponential time of mean `further_s`; best size uniform."""

    shortest_s: Annotated[float, Field(ge=1, allow_inf_nan=False)]
    further_s: FromZero
    best_low: Size
    best_high: Size

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.best_low > self.best_high:
            raise ValueError("best_low is above best_high")
        return self


class Process(_Table):
    """A program with a pool, whose throughput follows the universal scalability law.

    Attributes:
        ops_per_thread: operations a second of one thread alone (lambda).
        sigma: contention.
        kappa: coherency; phases that give `best` set it themselves.
        from_s: when it starts.
        until_s: when it ends; absent: with the run.
        ceiling_ops: demand in operations a second; absent: no limit.
        knee: size above which every further thread costs `knee_loss` of the throughput.
        knee_loss: that share.
        phases: one after the other, the last one until the end; empty: one phase.
        random_phases: instead of phases.
    """

    ops_per_thread: Positive = 1000.0
    sigma: Annotated[float, Field(ge=0, lt=1)] = 0.03
    kappa: FromZero = 0.003
    from_s: FromZero = 0.0
    until_s: Positive | None = None
    ceiling_ops: Positive | None = None
    knee: Size | None = None
    knee_loss: Annotated[float, Field(ge=0, lt=1)] = 0.0
    phases: list[Phase] = Field(default_factory=list)
    random_phases: RandomPhases | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.phases and self.random_phases:
            raise ValueError("phases and random_phases exclude each other")
        if self.until_s is not None and self.until_s <= self.from_s:
            raise ValueError("until_s is not after from_s")
        return self


class Noise(_Table):
    """Relative noise: white, per interval of 2 s, and slow (autoregressive)."""

    white_percent: FromZero = 2.5
    slow_percent: FromZero = 1.5
    slow_tau_s: Positive = 10.0


class Dips(_Table):
    """Throughput falls to `to_percent` for a uniform time; gaps are fixed plus exponential."""

    to_percent: FromZero = 5.0
    shortest_s: Positive = 1.0
    longest_s: Positive = 4.0
    gap_s: FromZero = 10.0
    further_gap_s: FromZero = 20.0

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.shortest_s > self.longest_s:
            raise ValueError("shortest_s is above longest_s")
        return self


class Scenario(_Table):
    """A run that policies are tried on.

    Attributes:
        name: short; the head of its column.
        title: one line.
        seconds: length of a run.
        scored_from_s: what is before that does not count.
        cores: of the host; more threads than that share them.
        crowding: loss for each core's worth of threads above the cores.
        low: lowest size.
        high: highest size, in force when a program starts.
        change_delay_s: how long a change of size takes to act.
        change_cost_s: work that it costs, in seconds.
        processes: programs; they compete for the cores.
        noise: of each program on its own.
        dips: of each program on its own; absent: none.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,32}$")]
    title: str
    seconds: Annotated[float, Field(gt=0, le=DAY_S)] = 1200.0
    scored_from_s: FromZero = 10.0
    cores: Size = 16
    crowding: FromZero = 0.12
    low: Size = 4
    high: Size = 16
    change_delay_s: FromZero = 0.3
    change_cost_s: FromZero = 0.02
    processes: Annotated[list[Process], Field(min_length=1, max_length=16)]
    noise: Noise = Field(default_factory=Noise)
    dips: Dips | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.low > self.high:
            raise ValueError("low is above high")
        if self.scored_from_s >= self.seconds:
            raise ValueError("scored_from_s is not before the end")
        if min(process.from_s for process in self.processes) > 0:
            raise ValueError("no program runs at second 0")
        return self

    @property
    def bounds(self) -> Bounds:
        """Sizes that a pool may have."""
        return Bounds(self.low, self.high)
