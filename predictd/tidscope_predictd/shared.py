"""A learner that many processes teach, and that learns alone where there is no service."""

import threading
import time
from collections.abc import Callable, Sequence

from tidscope_policies.perceptron import Predictor, Rule

from tidscope_predictd.client import Model, ServiceError

RETRY_S = 30.0


class SharedPredictor:
    """A model of the service. Without the service, one of this process, which starts with what the
    service's model had learnt; when the service is back, its model is used again. Any thread calls.

    Args:
        open_shared: opens the model; raises ServiceError.
        rule: how the model of this process learns.
        clock: in seconds, never steps.
    """

    def __init__(
        self,
        open_shared: Callable[[], Model],
        rule: Rule,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open, self._clock = open_shared, clock
        self._lock = threading.Lock()
        self._own = Predictor(rule)
        self._model: Model | None = None
        self._retry_at = clock()
        with self._lock:
            self._find()

    @property
    def shared(self) -> bool:
        """Whether the service's model is used."""
        with self._lock:
            return self._find() is not None

    def predict(self, features: Sequence[int]) -> int:
        """The sum of the weights: above 0 yes, below 0 no, 0 undecided.

        Raises:
            ValueError: no features, or more than 16.
        """
        with self._lock:
            return (self._find() or self._own).predict(features)

    def update(self, features: Sequence[int], *, answer: bool) -> None:
        """Learn what the answer was.

        Raises:
            ValueError: no features, or more than 16.
        """
        with self._lock:
            model = self._find()
            if model is not None:
                try:
                    model.update(features, answer=answer)
                    model.flush()
                except ServiceError:
                    self._lose(model)
                else:
                    return
            self._own.update(features, answer=answer)

    def reset(self) -> None:
        """Forget everything, for all who use the model."""
        with self._lock:
            model = self._find()
            if model is not None:
                try:
                    model.reset()
                except ServiceError:
                    self._lose(model)
            self._own.reset()

    def close(self) -> None:
        """Disconnect; twice does no harm. It goes on alone."""
        with self._lock:
            self._retry_at = float("inf")
            if self._model is not None:
                self._lose(self._model)

    def _find(self) -> Model | None:
        if self._model is not None and self._model.closed:
            # Deleted, or no longer shared: it may be there again, but empty or for others.
            self._lose(self._model)
        if self._model is None and self._clock() >= self._retry_at:
            try:
                self._model = self._open()
            except ServiceError:
                self._retry_at = self._clock() + RETRY_S
        return self._model

    def _lose(self, model: Model) -> None:
        """Go on alone, with what the model knows."""
        self._own.load(model.weights())
        model.close()
        self._model = None
        self._retry_at = max(self._retry_at, self._clock() + RETRY_S)
