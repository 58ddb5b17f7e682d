"""The right that each route and each WebSocket message needs. Unlisted ones are refused."""

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

Right = Literal["public", "metrics", "viewer", "operator", "collector"]
Grant = Literal["metrics", "viewer", "operator"]
"""Grants of a token or a session; each includes all rights below it."""

SOCKET = "WEBSOCKET"
ROUTES: Mapping[tuple[str, str], Right] = {
    # The page trades a token here. Both responses are the same for all clients.
    ("POST", "/api/v1/session"): "public",
    # Programs prove knowledge of the token here.
    ("POST", "/api/v1/proof"): "public",
    ("POST", "/api/v1/proof/session"): "public",
    ("GET", "/docs"): "public",
    ("GET", "/openapi.json"): "public",
    ("GET", "/metrics"): "metrics",
    ("GET", "/api/v1/session"): "viewer",
    ("DELETE", "/api/v1/session"): "viewer",
    ("POST", "/api/v1/session/tickets"): "viewer",
    ("GET", "/api/v1/sessions"): "operator",
    ("DELETE", "/api/v1/sessions/{session_id}"): "operator",
    ("GET", "/api/v1/health"): "viewer",
    ("GET", "/api/v1/hosts"): "viewer",
    ("GET", "/api/v1/fleet/hosts"): "viewer",
    ("GET", "/api/v1/fleet/across"): "viewer",
    ("GET", "/api/v1/fleet/compare"): "viewer",
    ("GET", "/api/v1/fields"): "viewer",
    ("GET", "/api/v1/processes"): "viewer",
    ("GET", "/api/v1/doctor"): "viewer",
    ("GET", "/api/v1/sizes"): "viewer",
    ("PUT", "/api/v1/doctor/delay-accounting"): "operator",
    ("GET", "/api/v1/targets"): "viewer",
    ("POST", "/api/v1/targets"): "operator",
    ("GET", "/api/v1/targets/{target_id}"): "viewer",
    ("PATCH", "/api/v1/targets/{target_id}"): "operator",
    ("DELETE", "/api/v1/targets/{target_id}"): "operator",
    ("POST", "/api/v1/targets/{target_id}/stacks"): "operator",
    ("GET", "/api/v1/targets/{target_id}/stacks"): "viewer",
    ("GET", "/api/v1/targets/{target_id}/stacks/places"): "viewer",
    ("GET", "/api/v1/targets/{target_id}/stacks/export"): "viewer",
    ("GET", "/api/v1/policies"): "viewer",
    ("GET", "/api/v1/steering"): "viewer",
    ("GET", "/api/v1/targets/{target_id}/steering"): "viewer",
    ("PUT", "/api/v1/targets/{target_id}/steering"): "operator",
    ("POST", "/api/v1/targets/{target_id}/steering/renew"): "operator",
    ("POST", "/api/v1/targets/{target_id}/steering/restart"): "operator",
    ("DELETE", "/api/v1/targets/{target_id}/steering"): "operator",
    ("GET", "/api/v1/predictions"): "viewer",
    ("GET", "/api/v1/predictions/{owner}/{name}"): "viewer",
    ("POST", "/api/v1/predictions/{owner}/{name}/reset"): "operator",
    ("POST", "/api/v1/demo"): "operator",
    ("DELETE", "/api/v1/demo"): "operator",
    ("GET", "/api/v1/runs"): "viewer",
    ("POST", "/api/v1/runs"): "operator",
    ("GET", "/api/v1/ring"): "viewer",
    ("POST", "/api/v1/ring/cuts"): "operator",
    ("POST", "/api/v1/runs/import"): "operator",
    ("GET", "/api/v1/runs/{run_id}"): "viewer",
    ("PATCH", "/api/v1/runs/{run_id}"): "operator",
    ("DELETE", "/api/v1/runs/{run_id}"): "operator",
    ("POST", "/api/v1/runs/{run_id}/stop"): "operator",
    ("POST", "/api/v1/runs/{run_id}/restore"): "operator",
    ("GET", "/api/v1/runs/{run_id}/events"): "viewer",
    ("GET", "/api/v1/runs/{run}/frames"): "viewer",
    ("GET", "/api/v1/runs/{run}/extremes"): "viewer",
    ("GET", "/api/v1/runs/{run_id}/export"): "viewer",
    ("GET", "/api/v1/runs/{run}/stacks"): "viewer",
    ("GET", "/api/v1/runs/{run}/stacks/places"): "viewer",
    ("GET", "/api/v1/runs/{run}/stacks/export"): "viewer",
    ("GET", "/api/v1/stacks/difference"): "viewer",
    ("GET", "/api/v1/compare"): "viewer",
    ("GET", "/api/v1/experiments"): "viewer",
    ("POST", "/api/v1/experiments"): "operator",
    ("DELETE", "/api/v1/experiments"): "operator",
    ("GET", "/api/v1/experiments/{experiment_id}"): "viewer",
    ("GET", "/api/v1/traces/endpoints"): "viewer",
    ("GET", "/api/v1/traces/operations"): "viewer",
    ("GET", "/api/v1/traces"): "viewer",
    ("GET", "/api/v1/traces/analysis"): "viewer",
    ("GET", "/api/v1/traces/difference"): "viewer",
    ("GET", "/api/v1/traces/heat"): "viewer",
    # Attributes contain queries and addresses.
    ("GET", "/api/v1/traces/values"): "operator",
    ("GET", "/api/v1/traces/days"): "viewer",
    ("GET", "/api/v1/traces/{trace_id}"): "viewer",
    ("POST", "/api/v1/traces/import"): "operator",
    ("POST", "/api/v1/traces/jaeger"): "operator",
    (SOCKET, "/ws/live"): "viewer",
    (SOCKET, "/ws/collector"): "collector",
    (SOCKET, "/ws/collector/frames"): "collector",
}
"""Right by method and path of each route, except the page's files, which are public."""

COSTLY: frozenset[str] = frozenset(
    {
        "/api/v1/processes",
        "/api/v1/doctor",
        "/api/v1/predictions",
        "/api/v1/predictions/{owner}/{name}",
        "/api/v1/sizes",
        "/api/v1/steering",
        "/api/v1/targets/{target_id}/steering",
        "/api/v1/ring",
        "/api/v1/runs",
        "/api/v1/runs/{run_id}",
        "/api/v1/runs/{run_id}/events",
        "/api/v1/runs/{run}/frames",
        "/api/v1/runs/{run}/extremes",
        "/api/v1/runs/{run_id}/export",
        "/api/v1/targets/{target_id}/stacks",
        "/api/v1/targets/{target_id}/stacks/places",
        "/api/v1/targets/{target_id}/stacks/export",
        "/api/v1/runs/{run}/stacks",
        "/api/v1/runs/{run}/stacks/places",
        "/api/v1/runs/{run}/stacks/export",
        "/api/v1/stacks/difference",
        "/api/v1/compare",
        "/api/v1/fleet/hosts",
        "/api/v1/fleet/across",
        "/api/v1/fleet/compare",
        "/api/v1/experiments",
        "/api/v1/experiments/{experiment_id}",
        "/api/v1/traces/endpoints",
        "/api/v1/traces/operations",
        "/api/v1/traces",
        "/api/v1/traces/analysis",
        "/api/v1/traces/difference",
        "/api/v1/traces/heat",
        "/api/v1/traces/values",
        "/api/v1/traces/days",
        "/api/v1/traces/{trace_id}",
    }
)
"""Paths whose GET asks a collector, reads many files or computes for long."""

LIVE_COMMANDS: Mapping[str, Right] = {
    "subscribe": "viewer",
    "unsubscribe": "viewer",
    "frame_ack": "viewer",
}
"""Rights by the `type` of a subscriber's message."""

COLLECTOR_MESSAGES: Mapping[str, Right] = {
    "collector_hello": "collector",
    "collector_frames": "collector",
    "target_reply": "collector",
    "processes_reply": "collector",
    "doctor_reply": "collector",
    "size_audit_reply": "collector",
    "flush_reply": "collector",
    "list_ring_reply": "collector",
    "cut_ring_reply": "collector",
    "read_cut_reply": "collector",
    "refused_reply": "collector",
    "target_changed": "collector",
    "target_forgotten": "collector",
    "frames_lost": "collector",
    "collector_goodbye": "collector",
    "steering_options_reply": "collector",
}
"""Rights by the `type` of a collector's message."""

_GUARDED = ("/api", "/ws", "/docs", "/openapi.json", "/metrics")
_GRANTED: Mapping[Grant, frozenset[Right]] = {
    "metrics": frozenset({"public", "metrics"}),
    "viewer": frozenset({"public", "metrics", "viewer"}),
    "operator": frozenset({"public", "metrics", "viewer", "operator"}),
}
_TEMPLATES = [
    (path, re.compile(re.sub(r"\{\w+\}", "([^/]+)", path)))
    for path in sorted({path for _, path in ROUTES}, key=lambda path: "{" in path)
]


def is_guarded(path: str) -> bool:
    """Return True unless a path is a file of the page."""
    return any(path == prefix or path.startswith(prefix + "/") for prefix in _GUARDED)


def rights_of(path: str) -> dict[str, Right]:
    """Return the right per method of a path; empty if the path is not listed."""
    found: dict[str, Right] = {}
    for template, pattern in _TEMPLATES:
        if pattern.fullmatch(path):
            for (method, listed), right in ROUTES.items():
                if listed == template:
                    found.setdefault(method, right)
    return found


class Route(NamedTuple):
    """A route of the table, and the name in its path, such as a run ID."""

    method: str
    path: str
    name: str | None


def route_of(method: str, path: str) -> Route | None:
    """Return the route that serves a request, or None if not listed."""
    for template, pattern in _TEMPLATES:
        if (method, template) in ROUTES and (found := pattern.fullmatch(path)):
            return Route(method, template, next(iter(found.groups()), None))
    return None


def is_costly(method: str, path: str) -> bool:
    """Return True if a request is a costly read."""
    route = route_of(method, path)
    return route is not None and method == "GET" and route.path in COSTLY


def grants(grant: Grant, right: Right) -> bool:
    """Return True if a grant includes a right."""
    return right in _GRANTED[grant]
