"""What the command line asks a running backend, over its REST interface."""

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
    """The backend refused; the text is its problem's detail and hint."""


def ask(
    address: str,
    token: str,
    path: str,
    answer: type[M],
    method: str = "GET",
    body: object | None = None,
) -> M:
    """Ask and read the answer. Blocks.

    Args:
        address: host and port.
        token: shown as Bearer.
        path: below /api/v1.
        answer: what the answer has to be.
        method: HTTP method.
        body: sent as JSON; None: there is none.

    Raises:
        RefusedError: it answers with a problem document.
        UnavailableError: it does not answer.
    """
    received = tell(address, token, path, method, body)
    try:
        return answer.model_validate_json(received)
    except ValidationError as error:
        raise UnavailableError(f"{address}{path}: {error}") from None


def tell(
    address: str, token: str, path: str, method: str = "GET", body: object | None = None
) -> bytes:
    """Ask, whatever the answer is. As `ask`, which reads it."""
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
