"""Every route and message has a right, and the backend goes by it."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from backend_server import SECRET, TOKEN, kind, running_backend
from fastapi import FastAPI
from fastapi.routing import _IncludedRouter
from schema_check import members
from starlette.routing import BaseRoute, Route, WebSocketRoute
from tidscope_backend.app import create_app
from tidscope_backend.security.rights import (
    COLLECTOR_MESSAGES,
    COSTLY,
    LIVE_COMMANDS,
    ROUTES,
    SOCKET,
    rights_of,
)
from tidscope_backend.settings import Settings

WAIT = 200
VIEW_TOKEN = "view-token-of-the-tests"
METRICS_TOKEN = "metrics-token-of-tests"
PAGE = "/{path:path}"
DOC = Path(__file__).parent.parent.parent / "docs" / "rights.md"


def make_app() -> FastAPI:
    return create_app(Settings(token=TOKEN, collector_secret=SECRET))


def routes_of(routes: list[BaseRoute], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Method and path of every route that the app can reach, documented or not."""
    for route in routes:
        if isinstance(route, WebSocketRoute):
            yield SOCKET, prefix + route.path
        elif isinstance(route, Route):
            for method in set(route.methods or ()) - {"HEAD"}:
                yield method, prefix + route.path
        elif isinstance(route, _IncludedRouter):
            below = prefix + route.include_context.prefix
            yield from routes_of(route.original_router.routes, below)
        else:
            pytest.fail(f"{route} is of a kind that is not walked")


def test_each_route_is_listed_and_no_other() -> None:
    assert set(routes_of(make_app().routes)) - {("GET", PAGE)} == set(ROUTES)


def test_each_operation_of_the_openapi_document_is_listed() -> None:
    documented = {
        (method.upper(), path)
        for path, operations in make_app().openapi()["paths"].items()
        for method in operations
    }
    assert documented
    assert documented <= set(ROUTES)
    assert {("GET", path) for path in COSTLY} <= documented


def test_each_message_that_is_received_is_listed() -> None:
    assert set(members("LiveCommand").values()) == set(LIVE_COMMANDS)
    assert set(members("CollectorMessage").values()) == set(COLLECTOR_MESSAGES)


def test_a_path_finds_its_own_row() -> None:
    for (method, path), right in ROUTES.items():
        assert rights_of(re.sub(r"\{\w+\}", "x", path))[method] == right
    assert rights_of("/api/v1/runs/x/y/z") == rights_of("/api/v1/") == {}


def test_what_changes_something_is_for_operators() -> None:
    for (method, path), right in ROUTES.items():
        if method not in ("GET", SOCKET) and not path.startswith("/api/v1/session"):
            assert right in ("operator", "public"), path


async def test_each_route_goes_by_its_right(tmp_path: Path) -> None:
    """Asked by everybody: what is not granted is refused, and what is granted is not."""
    bearers = {
        "nobody": None,
        "collector": SECRET,
        "metrics": METRICS_TOKEN,
        "viewer": VIEW_TOKEN,
    }
    granted = {
        "nobody": ("public",),
        "collector": ("public",),
        "metrics": ("public", "metrics"),
        "viewer": ("public", "metrics", "viewer"),
    }
    async with (
        asyncio.timeout(WAIT),
        running_backend(
            view_token=VIEW_TOKEN, metrics_token=METRICS_TOKEN, web_dir=tmp_path
        ) as backend,
    ):
        for who, bearer in bearers.items():
            headers = {} if bearer is None else {"authorization": f"Bearer {bearer}"}
            async with backend.client(origin=backend.url, **headers) as client:
                for (method, path), right in ROUTES.items():
                    if method == SOCKET:
                        continue
                    address = re.sub(r"\{\w+\}", "x", path)
                    answer = await client.request(method, address)
                    if right in granted[who]:
                        expected = "let through"
                    else:
                        expected = "view-only" if who == "viewer" else "unauthenticated"
                    assert outcome(answer) == expected, (who, method, path, answer.text)


def outcome(answer: httpx.Response) -> str:
    """Kind of a refusal of the access control."""
    if answer.status_code in (401, 403, 429):
        refused = kind(answer)[1]
        return "unauthenticated" if refused == "too-many-attempts" else refused
    return "let through"


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_route_that_is_not_listed_is_refused_even_to_operators(method: str) -> None:
    app = make_app()
    app.router.routes.insert(0, Route("/api/v1/forgotten", lambda _: None, methods=[method]))
    headers = {"authorization": f"Bearer {TOKEN}", "host": "localhost"}
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        answer = await client.request(method, "/api/v1/forgotten", headers=headers)
        assert kind(answer) == (404, "not-found")
        answer = await client.request("PUT", "/api/v1/health", headers=headers)
        assert kind(answer) == (405, "method-not-allowed")
        assert answer.headers["allow"] == "GET"


def test_the_table_of_rights_is_in_the_documentation() -> None:
    listed = re.findall(r"^\| (\w+) +\| `([^`]+)` +\| (\w+)", DOC.read_text(), flags=re.M)
    assert {(method, path): right for method, path, right in listed} == dict(ROUTES)
