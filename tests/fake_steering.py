"""A steering service that steers nothing, and remembers what it was asked for."""

import threading
from collections.abc import Sequence

from backend_builders import steering
from tidscope_collector.steering.plan import NotSteerableError, NotSteeredError, PreparedSteering
from tidscope_collector.steering.service import SteeringTarget
from tidscope_wire.generated.models import (
    KnobOption,
    SignalOption,
    Steering,
    SteeringOptions,
    SteerRequest,
)

KNOB = KnobOption(kind="go-agent", refusal="", lower=1, upper=8, size=4)
SIGNAL = SignalOption(kind="agent-ops", proxy=False, refusal="", note="")


class Ready(PreparedSteering):
    """A program that is ready to be steered."""

    def __init__(self, service: "FakeSteering", target: str, request: SteerRequest) -> None:
        self.target = target
        self._fake, self._request = service, request

    def commit(self) -> Steering:
        self._fake.running[self.target] = self._request
        return steering(policy=self._request.policy)

    def abort(self) -> None:
        self._fake.aborted.append(self.target)


class FakeSteering:
    """In place of a `SteeringService`.

    Attributes:
        running: steered targets and their requests.
        unable: reason for the refusal of the knob, by process ID.
        failures: error of the preparation, by process ID.
        examined: ids of the processes whose options were asked for.
        aborted, restarted, released, forgotten: targets of each action.
    """

    def __init__(self) -> None:
        self.running: dict[str, SteerRequest] = {}
        self.unable: dict[int, str] = {}
        self.failures: dict[int, Exception] = {}
        self.examined: list[SteeringTarget] = []
        self.aborted: list[str] = []
        self.restarted: list[tuple[str, str]] = []
        self.released: list[tuple[str, str]] = []
        self.forgotten: list[str] = []
        self.steered_targets: list[SteeringTarget] = []
        self._busy = threading.Lock()

    def options(self, target: SteeringTarget) -> SteeringOptions:
        self.examined.append(target)
        refused = self.unable.get(target.process.pid, "")
        return SteeringOptions(
            knobs=[KNOB.model_copy(update={"refusal": refused})],
            signals=[SIGNAL],
            steering=self.current(target.id),
        )

    def current(self, target: str) -> Steering | None:
        request = self.running.get(target)
        return None if request is None else steering(policy=request.policy)

    def exclusive(self, _: str) -> threading.Lock:
        return self._busy

    def steered(self, target: str) -> list[str]:
        return sorted(key for key in self.running if key.partition("/")[0] == target)

    def prepare(self, target: SteeringTarget, request: SteerRequest, _: str) -> Ready:
        pid = target.process.pid
        if pid in self.failures:
            raise self.failures[pid]
        if pid in self.unable:
            raise NotSteerableError(self.unable[pid])
        self.steered_targets.append(target)
        return Ready(self, target.id, request)

    def steer(self, target: SteeringTarget, request: SteerRequest, actor: str) -> Steering:
        return self.prepare(target, request, actor).commit()

    def restart(self, target: str, actor: str) -> None:
        if target not in self.running:
            raise NotSteeredError
        self.restarted.append((target, actor))

    def release(self, target: str, actor: str) -> None:
        if target not in self.running:
            raise NotSteeredError
        self.release_all([target], actor)

    def release_all(self, targets: Sequence[str], actor: str) -> None:
        for target in targets:
            del self.running[target]
            self.released.append((target, actor))

    def ended(self, target: str) -> None:
        self.release_all(self.steered(target), "detach")
        self.forgotten.append(target)

    def close(self) -> None:
        self.release_all(list(self.running), "shutdown")
