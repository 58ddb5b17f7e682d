"""The command line's client of a running backend's REST API."""

import json
from http.client import HTTPConnection, HTTPException
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from tidscope_wire.generated.models import Problem

TIMEOUT_SECONDS = 25
BAD_REQUEST = 400
M = TypeVar("M", bound=BaseModel)


class UnavailableError(Exception):
    """The backend does not answer."""


class RefusedError(Exception):
    """The backend refused; the text is the detail and hint of its problem document."""


def request_model(
    address: str,
    token: str,
    path: str,
    answer: type[M],
    method: str = "GET",
    body: object | None = None,
) -> M:
    """Send a request and parse the answer. Blocks.

    Args:
        address: host and port.
        token: sent as Bearer credential.
        path: below /api/v1.
        answer: model of the answer.
        method: HTTP method.
        body: sent as JSON; None: no body.

    Raises:
        RefusedError: it answers with a problem document.
        UnavailableError: it does not answer.
    """
    received = request(address, token, path, method, body)
    try:
        return answer.model_validate_json(received)
    except ValidationError as error:
        raise UnavailableError(f"{address}{path}: {error}") from None


def request(
    address: str, token: str, path: str, method: str = "GET", body: object | None = None
) -> bytes:
    """Send a request and return the answer's body. Raises as `request_model`."""
    connection = HTTPConnection(address, timeout=TIMEOUT_SECONDS)
    try:
        headers = {"Authorization": f"Bearer {token}"}
        sent = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            sent = json.dumps(body)
        connection.request(method, f"/api/v1{path}", sent, headers)
        response = connection.getresponse()
        received = response.read()
        if response.status < BAD_REQUEST:
            return received
        problem = Problem.model_validate_json(received)
    except (OSError, HTTPException, ValidationError) as error:
        raise UnavailableError(f"{address}{path}: {error}") from None
    finally:
        connection.close()
    raise RefusedError(f"{problem.detail}; {problem.hint}")
