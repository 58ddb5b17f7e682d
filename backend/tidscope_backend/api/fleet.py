"""/api/v1/fleet: questions about many hosts, answered from the totals by role."""

import time
from typing import Annotated

from fastapi import APIRouter, Query, Response
from tidscope_wire.generated.models import FleetAcross, FleetComparison, FleetHosts
from tidscope_wire.problems import refusal

from tidscope_backend.api.openapi import raises
from tidscope_backend.fleet.asking import Questions
from tidscope_backend.fleet.role_rows import COUNTERS

WINDOW_MS = 600_000
"""Length of the window unless asked for: the last ten minutes."""
MAX_WINDOW_MS = 32 * 86_400_000
LIVE_MS = 10_000
"""Rounding of the present, in milliseconds, so that pages share an answer."""
MAX_MS = 253_402_300_799_000
Time = Annotated[int | None, Query(ge=0, le=MAX_MS, description="Unix milliseconds.")]
Name = Annotated[str | None, Query(max_length=256)]
Search = Annotated[str, Query(max_length=400)]


def fleet_router(questions: Questions) -> APIRouter:
    """Make the routes."""
    routes = APIRouter(prefix="/fleet", tags=["hosts"])

    @routes.get(
        "/hosts",
        summary="What each host did in a window",
        response_model=FleetHosts,
        openapi_extra=raises("roles-unavailable", "bad-request"),
    )
    async def hosts(since_ms: Time = None, until_ms: Time = None) -> Response:
        return _json(await questions.ask("wall", **_window(since_ms, until_ms)))

    @routes.get(
        "/across",
        summary="A counter of a role on all hosts",
        response_model=FleetAcross,
        openapi_extra=raises("roles-unavailable", "bad-request"),
    )
    async def across(
        program: Name = None,
        role: Name = None,
        counter: Annotated[str, Query(max_length=64)] = "cpu_delay_ns",
        since_ms: Time = None,
        until_ms: Time = None,
    ) -> Response:
        if counter not in COUNTERS:
            raise refusal(
                "bad-request",
                f"{counter!r} is not a counter of threads",
                "The list of fields has them: scope thread, kind counter.",
            )
        asked = {"program": program, "role": role, "counter": counter}
        return _json(await questions.ask("across", **asked, **_window(since_ms, until_ms)))

    @routes.get(
        "/compare",
        summary="Two sets of hosts, each host a repeat",
        response_model=FleetComparison,
        openapi_extra=raises("roles-unavailable", "bad-request"),
    )
    async def compare(
        first: Search = "",
        other: Search = "",
        program: Name = None,
        role: Name = None,
        since_ms: Time = None,
        until_ms: Time = None,
    ) -> Response:
        asked = {"program": program, "role": role, "first": first, "other": other}
        return _json(await questions.ask("compare", **asked, **_window(since_ms, until_ms)))

    return routes


def _window(since_ms: int | None, until_ms: int | None) -> dict[str, int]:
    """Return a window in microseconds. Raises ProblemError."""
    if until_ms is None:
        until_ms = (time.time_ns() // 1_000_000 // LIVE_MS + 1) * LIVE_MS
    if since_ms is None:
        since_ms = max(0, until_ms - WINDOW_MS)
    if not 0 < until_ms - since_ms <= MAX_WINDOW_MS:
        raise refusal(
            "bad-request",
            "a window begins before its end, and is at most 32 days long",
            "since_ms and until_ms are Unix milliseconds.",
        )
    return {"from_us": since_ms * 1000, "to_us": until_ms * 1000}


def _json(text: str) -> Response:
    return Response(text, media_type="application/json", headers={"Cache-Control": "no-store"})
