"""A backend that answers the requests of a command from a table, in the command's own process."""

import json
import signal
from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Self, TypeVar

import pytest
from pydantic import BaseModel
from tidscope_backend.settings import BROWSER_VARIABLE

TOKEN = "token-of-a-test"
M = TypeVar("M", bound=BaseModel)
Answer = BaseModel | Exception | Callable[[], BaseModel]
"""A message, an error to raise, or what has to happen before a message."""


class FakeBackend:
    """Answers from `table`, and remembers what it was asked.

    What is not in the table fails the test. A list is answered from once, in its order; anything
    else, again and again.

    Attributes:
        table: method and path, to the answer or a list of answers.
        requests: method and path of each request, in order.
        sent: the bodies, by method and path; the last one of each.
        opened: address and token of each connection.
        closed: number of closed connections.
        now: seconds of the clock that the command reads; sleeping moves it.
        handlers: handlers of the signals that the command handles.
    """

    def __init__(self) -> None:
        self.table: dict[tuple[str, str], Answer | list[Answer]] = {}
        self.requests: list[tuple[str, str]] = []
        self.sent: dict[tuple[str, str], object] = {}
        self.opened: list[tuple[str, str]] = []
        self.closed = 0
        self.now = 100.0
        self.handlers: dict[int, Callable[[int, None], object]] = {}

    def serve(self, monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
        """Be the backend of modules of the command line, and their clock; time does not pass."""
        monkeypatch.setenv(BROWSER_VARIABLE, TOKEN)
        clock = SimpleNamespace(monotonic=lambda: self.now, sleep=self._sleep)
        signals = SimpleNamespace(
            SIGINT=signal.SIGINT, SIGTERM=signal.SIGTERM, signal=self.handlers.__setitem__
        )
        instead = {"BackendClient": self._open, "POLL_SECONDS": 0.0, "time": clock}
        for name in ("backend_client", *modules):
            module = import_module(f"tidscope_backend.cli.{name}")
            for what, stand_in in instead.items():
                if hasattr(module, what):
                    monkeypatch.setattr(module, what, stand_in)
            if getattr(module, "signal", None) is signal:
                monkeypatch.setattr(module, "signal", signals)

    def after_signal(self, answer: BaseModel, number: int = signal.SIGINT) -> Answer:
        """An answer, while which a signal such as that of Ctrl-C comes."""

        def interrupted() -> BaseModel:
            self.handlers[number](number, None)
            return answer

        return interrupted

    def after_seconds(self, answer: BaseModel, seconds: float) -> Answer:
        """An answer that comes late."""

        def late() -> BaseModel:
            self.now += seconds
            return answer

        return late

    def request_model(
        self, path: str, answer: type[M], method: str = "GET", body: object | None = None
    ) -> M:
        """Same method as that of a BackendClient."""
        key = (method, path)
        self.requests.append(key)
        if body is not None:
            self.sent[key] = json.loads(json.dumps(body))
        found = self.table.get(key)
        if isinstance(found, list):
            found = found.pop(0) if found else None
        assert found is not None, f"{method} {path} has no answer"
        if isinstance(found, Exception):
            raise found
        made = found if isinstance(found, BaseModel) else found()
        return answer.model_validate_json(made.model_dump_json())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.closed += 1

    def _open(self, address: str, token: str) -> Self:
        self.opened.append((address, token))
        return self

    def _sleep(self, seconds: float) -> None:
        # A poll that takes no time would wait for ever.
        self.now += max(seconds, 0.5)
