"""A WSGI application that waits 0.3 s for each request, as for a slow service."""

import time
from collections.abc import Callable, Iterable


def application(_request: dict[str, object], start: Callable[..., object]) -> Iterable[bytes]:
    """Answer a request."""
    time.sleep(0.3)
    start("200 OK", [("Content-Type", "text/plain")])
    return [b"done"]
