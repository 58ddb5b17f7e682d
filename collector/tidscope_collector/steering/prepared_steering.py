"""A policy about to steer a target: opened, then committed or aborted."""

import threading
from collections.abc import Callable

from tidscope_wire.generated.models import PrometheusCounter, Steering

from tidscope_collector.steering.loop.control_loop import ControlLoop
from tidscope_collector.steering.loop.loop_inputs import ControlSetup
from tidscope_collector.steering.refusals import NotSteerableError


class PreparedSteering:
    """A policy ready to steer one target; commit or abort it once, soon.

    Attributes:
        target: target to steer.
        loop: control loop, not started.
        opening: identity of the opening; the service drops it when the target is released.
        counter: counter that the signal was opened with, or None.
    """

    def __init__(
        self,
        adopt: Callable[["PreparedSteering"], bool],
        abandon: Callable[["PreparedSteering"], None],
        target: str,
        loop: ControlLoop,
        before: ControlLoop | None,
        held: ControlSetup | None,
        counter: PrometheusCounter | None,
        opening: object,
        busy: threading.Lock,
    ) -> None:
        self.target, self.loop, self.counter, self.opening = target, loop, counter, opening
        self._adopt, self._abandon = adopt, abandon
        self._before, self._held, self._busy = before, held, busy

    def commit(self) -> Steering:
        """Start steering.

        Raises:
            NotSteerableError: the target was released meanwhile.
        """
        try:
            if not self._adopt(self):
                close_new(self.loop.setup, self._held)
                raise NotSteerableError("It was released while knob and signal were opened.")
            if self._before is not None:
                self._before.retire(self.loop.setup)
            self.loop.start()
        finally:
            self._busy.release()
        return self.loop.steering

    def abort(self) -> None:
        """Leave the target as it was."""
        try:
            self._abandon(self)
            close_new(self.loop.setup, self._held)
            if self._before is not None:
                self._before.resume()
        finally:
            self._busy.release()


def close_new(setup: ControlSetup, held: ControlSetup | None) -> None:
    """Close the parts of a setup that another one in use does not share."""
    if held is None or setup.knob is not held.knob:
        setup.close()
    elif setup.signal is not held.signal:
        setup.signal.close()
