"""What policies that learn learn with: models of the host's prediction service, by program."""

import re
import threading
from collections.abc import Callable

from tidscope_predictd.client import Connection, ServiceError, open_over
from tidscope_predictd.messages import Open
from tidscope_predictd.model.perceptron import Predictor, Rule
from tidscope_predictd.shared import SharedPredictor

from tidscope_collector.inspection.asking import DamagedError, NoAnswerError, UnreadableError
from tidscope_collector.inspection.reader import connect_predictions

MAX_SHARED = 32
"""So many models are kept open; further programs learn alone."""
TIMEOUT_S = 1.0
_ODD = re.compile(r"[^A-Za-z0-9._-]")


class Learners:
    """Learners by program: processes of one name learn together, whoever came first.

    Args:
        connect: to the service; raises ServiceError. None: each learns alone.
    """

    def __init__(self, connect: Callable[[], Connection] | None) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._shared: dict[str, SharedPredictor] = {}

    def of(self, program: str, rule: Rule) -> Predictor | SharedPredictor:
        """The learner of a program's processes."""
        if self._connect is None or not program:
            return Predictor(rule)
        name = model_name(program, rule)
        connect = self._connect
        with self._lock:
            found = self._shared.get(name)
            if found is None:
                if len(self._shared) >= MAX_SHARED:
                    return Predictor(rule)
                found = self._shared[name] = SharedPredictor(
                    lambda: open_over(connect(), Open(name, create=True, rule=rule)), rule
                )
        return found


def model_name(program: str, rule: Rule) -> str:
    """The name of the model of a program: with the rule, which an open model cannot change."""
    return f"pss-{rule.threshold}-{rule.limit}.{_ODD.sub('_', program)[:32]}"


def service_connection() -> Connection:
    """A connection to the service, opened by a limited child: this process may open none.

    Raises:
        ServiceError: there is no service.
    """
    try:
        return Connection(connect_predictions(TIMEOUT_S), TIMEOUT_S)
    except (NoAnswerError, UnreadableError, DamagedError) as error:
        raise ServiceError(f"no prediction service: {error}") from error
