"""A learner shared by many processes, with a local fallback when the service is absent."""

import threading
import time
from collections.abc import Callable, Sequence

from tidscope_policies.perceptron import Predictor, Rule

from tidscope_predictd.client import Model, ServiceError

RETRY_S = 30.0


class SharedPredictor:
    """A model of the service, with a local fallback. Thread-safe.

    The fallback starts from the service's weights. When the service returns, its model is used
    again.

    Args:
        open_shared: opens the model; raises ServiceError.
        rule: learning rule of the local model.
        clock: monotonic clock, in seconds.
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
        """True while the service's model is used."""
        with self._lock:
            return self._find() is not None

    def predict(self, features: Sequence[int]) -> int:
        """Return the sum of the weights: above 0 yes, below 0 no, 0 undecided.

        Raises:
            ValueError: no features, or more than 16.
        """
        with self._lock:
            return (self._find() or self._own).predict(features)

    def update(self, features: Sequence[int], *, answer: bool) -> None:
        """Learn an answer.

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
        """Reset all weights, for all users of the model."""
        with self._lock:
            model = self._find()
            if model is not None:
                try:
                    model.reset()
                except ServiceError:
                    self._lose(model)
            self._own.reset()

    def close(self) -> None:
        """Disconnect, and continue with the local model. Idempotent."""
        with self._lock:
            self._retry_at = float("inf")
            if self._model is not None:
                self._lose(self._model)

    def _find(self) -> Model | None:
        if self._model is not None and self._model.closed:
            # The model was deleted or is no longer shared; a new one may be empty or private.
            self._lose(self._model)
        if self._model is None and self._clock() >= self._retry_at:
            try:
                self._model = self._open()
            except ServiceError:
                self._retry_at = self._clock() + RETRY_S
        return self._model

    def _lose(self, model: Model) -> None:
        """Continue locally, with the weights of the model."""
        self._own.load(model.weights())
        model.close()
        self._model = None
        self._retry_at = max(self._retry_at, self._clock() + RETRY_S)
