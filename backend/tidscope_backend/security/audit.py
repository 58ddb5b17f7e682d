"""Audit log lines of requests that change state, including refused and failed ones."""

from collections.abc import Callable, Mapping, MutableMapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from tidscope_wire.audit import AuditTrail
from tidscope_wire.generated.models import Actor, AuditAction, AuditOutcome

from tidscope_backend.security.authenticator import client_address, find_principal
from tidscope_backend.security.rights import route_of

ACTIONS: Mapping[tuple[str, str], AuditAction] = {
    ("POST", "/api/v1/session"): "sign-in",
    ("POST", "/api/v1/proof/session"): "sign-in",
    ("DELETE", "/api/v1/session"): "sign-out",
    ("DELETE", "/api/v1/sessions/{session_id}"): "end-session",
    ("PUT", "/api/v1/doctor/delay-accounting"): "set-delay-accounting",
    ("POST", "/api/v1/targets"): "attach",
    ("PATCH", "/api/v1/targets/{target_id}"): "set-rate",
    ("DELETE", "/api/v1/targets/{target_id}"): "detach",
    ("POST", "/api/v1/targets/{target_id}/stacks"): "sample-stacks",
    ("PUT", "/api/v1/targets/{target_id}/steering"): "steer",
    ("POST", "/api/v1/targets/{target_id}/steering/restart"): "restart-search",
    ("DELETE", "/api/v1/targets/{target_id}/steering"): "release",
    ("POST", "/api/v1/predictions/{owner}/{name}/reset"): "reset-predictions",
    ("POST", "/api/v1/demo"): "start-demo",
    ("DELETE", "/api/v1/demo"): "stop-demo",
    ("POST", "/api/v1/experiments"): "start-experiment",
    ("DELETE", "/api/v1/experiments"): "end-experiment",
    ("POST", "/api/v1/runs"): "record",
    ("POST", "/api/v1/runs/import"): "import",
    ("POST", "/api/v1/ring/cuts"): "cut",
    ("POST", "/api/v1/traces/import"): "import-traces",
    ("POST", "/api/v1/traces/jaeger"): "import-traces",
    ("PATCH", "/api/v1/runs/{run_id}"): "patch",
    ("DELETE", "/api/v1/runs/{run_id}"): "delete",
    ("POST", "/api/v1/runs/{run_id}/stop"): "stop",
    ("POST", "/api/v1/runs/{run_id}/restore"): "restore",
}
"""Action name of each route that changes state."""
UNLOGGED = {
    (
        "POST",
        "/api/v1/targets/{target_id}/steering/renew",
    ): "it keeps what was logged when it began",
    ("POST", "/api/v1/proof"): "the backend proves something to whoever asks",
    ("POST", "/api/v1/session/tickets"): "it lets one file be read that could be read anyway",
}
"""Routes that change no state despite their method."""
REFUSED_SIGN_INS = 20
"""Maximum lines in a burst; one more is allowed every REFILL_SECONDS."""
REFILL_SECONDS = 3.0
_NOTES = "tidscope.audit"
_CONTINUES = "tidscope.audit.continues"
_OBJECT = "object"


def note(scope: Scope, object: str | None = None, **details: str) -> None:
    """Add details from a route to its audit line, beyond those in the path."""
    notes: MutableMapping[str, str] = scope.setdefault(_NOTES, {})
    notes.update(details if object is None else {**details, _OBJECT: object})


def continues_logged(scope: Scope) -> None:
    """Leave out the line of a request that prolongs what was logged when it began."""
    scope[_CONTINUES] = True


class AuditMiddleware:
    """ASGI middleware, in front of the routes and behind the access control.

    An answer is sent after its line is on disk, or after writing failed: a full disk must not
    prevent signing in or freeing space.

    Args:
        app: inner application.
        trail: audit trail.
        clock: seconds, monotonic.
    """

    def __init__(self, app: ASGIApp, trail: AuditTrail, clock: Callable[[], float]) -> None:
        self._app = app
        self._trail = trail
        self._refusals = _Budget(clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and log it with its outcome."""
        route = route_of(scope["method"], scope["path"]) if scope["type"] == "http" else None
        action = ACTIONS.get((route.method, route.path)) if route else None
        if route is None or action is None:
            await self._app(scope, receive, send)
            return
        notes: dict[str, str] = {}
        scope[_NOTES] = notes
        logged = False

        async def log_first(message: Message) -> None:
            nonlocal logged
            if message["type"] == "http.response.start" and not logged:
                logged = True
                await self._log(scope, action, message["status"], route.name, notes)
            await send(message)

        try:
            await self._app(scope, receive, log_first)
        finally:
            if not logged:
                await self._log(scope, action, 500, route.name, notes)

    async def _log(
        self,
        scope: Scope,
        action: AuditAction,
        status: int,
        name: str | None,
        notes: dict[str, str],
    ) -> None:
        if status < 400 and scope.get(_CONTINUES):
            return
        outcome: AuditOutcome = "done" if status < 400 else "refused" if status < 500 else "failed"
        if action == "sign-in" and outcome != "done" and not self._refusals.spend():
            self._trail.skip()
            return
        details = dict(notes)
        if status >= 400:
            details["status"] = str(status)
        about = details.pop(_OBJECT, name)
        await self._trail.write(action, outcome, _actor(scope), about, details)


class _Budget:
    """Budget of lines about refused sign-ins, which any client can cause."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._left = float(REFUSED_SIGN_INS)
        self._at_s = clock()

    def spend(self) -> bool:
        """Take one line from the budget. Return False if none is left."""
        now = self._clock()
        self._left = min(REFUSED_SIGN_INS, self._left + (now - self._at_s) / REFILL_SECONDS)
        self._at_s = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


def _actor(scope: Scope) -> Actor:
    principal = find_principal(scope)
    if principal is not None:
        return principal.actor
    return Actor(session=None, role=None, label=f"somebody at {client_address(scope)}")
