"""Authentication by tokens, sessions, tickets and collector secrets.

A credential is in a header, in a WebSocket's subprotocols, or in the query. The query has a ticket,
for browsers that cannot send a header. Wrong tokens are counted, to limit guessing.
"""

import hashlib
import hmac
import math
import re
import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import Scope
from tidscope_wire.generated.models import Actor, ClientProof, Role
from tidscope_wire.problems import refusal
from tidscope_wire.proof import is_collector, read_authorization

from tidscope_backend.security.collector_access import (
    CollectorAuthority,
    HostClaims,
    ProofError,
    Proofs,
    Proven,
    SecretKeys,
)
from tidscope_backend.security.host_file import HostFile
from tidscope_backend.security.rights import Grant
from tidscope_backend.security.sessions import Session, Sessions
from tidscope_backend.settings import Settings

WHERE = "the address that `tidscope up` printed holds it, behind #token="
_PRINCIPAL = "tidscope.principal"
_ROLES: Mapping[str, Role] = {"operator": "operator", "viewer": "viewer"}


@dataclass(frozen=True)
class Principal:
    """The author of a request.

    Attributes:
        grant: granted rights.
        address: network address.
        session: the session, or None if each request carries a token.
    """

    grant: Grant
    address: str
    session: Session | None

    @property
    def role(self) -> Role:
        """The role of the session or token."""
        return "operator" if self.grant == "operator" else "viewer"

    @property
    def sees_arguments(self) -> bool:
        """Whether the principal may see arguments and output of programs."""
        return self.grant == "operator"

    @property
    def actor(self) -> Actor:
        """The principal, for events and audit logs."""
        who = "a program" if self.session is None else f"session {self.session.id}"
        return Actor(
            session=None if self.session is None else self.session.id,
            role=self.role,
            label=f"{who} at {self.address}",
        )


CREDENTIAL = re.compile(r"tds_[A-Za-z0-9_-]{43}")
"""Form of a session's credential. Unlike wrong tokens, wrong credentials are not counted."""


class Authenticator:
    """Checks credentials and returns their grants.

    Args:
        settings: the tokens and secrets.
        sessions: the open sessions.
        hosts: the secrets of hosts, or None.
        clock: seconds, monotonic.
        unix_clock: Unix seconds.
    """

    def __init__(
        self,
        settings: Settings,
        sessions: Sessions,
        hosts: HostFile | None,
        clock: Callable[[], float],
        unix_clock: Callable[[], float],
    ) -> None:
        self.sessions = sessions
        self.keys = SecretKeys(settings, hosts, unix_clock)
        self.proofs = Proofs(self.keys, clock)
        self.claims = HostClaims(hosts)
        self.tickets = Tickets(clock)
        self._tokens: dict[Grant, bytes] = {
            "operator": settings.token.encode(),
            "viewer": settings.view_token.encode(),
        }
        if settings.metrics_token is not None:
            self._tokens["metrics"] = settings.metrics_token.encode()
        self._attempts = FailedAttempts(clock)

    def check_token(self, given: str, headers: Mapping[str, str], address: str) -> Grant:
        """Check a token. A valid token is accepted even after wrong attempts.

        Returns:
            The token's grant.

        Raises:
            ProblemError: the token is wrong; of kind too-many-attempts after too many wrong tokens
                from this address.
        """
        grant = self._grant_of_token(given)
        if grant is not None:
            return grant
        # Any page that the user opens can make the browser send wrong tokens, so do not count them.
        self._refuse_guess(address, counts=headers.get("sec-fetch-site") != "cross-site")
        raise refusal("unauthenticated", "this is not the token of this backend", WHERE)

    def authenticate(self, scope: Scope) -> Principal:
        """Check the credential of a request, in any supported place.

        Raises:
            ProblemError: the credential is missing or invalid.
        """
        address = client_address(scope)
        headers = Headers(scope=scope)
        shown = bearer(headers) or offered_session(scope.get("subprotocols", []))
        if shown is not None and CREDENTIAL.fullmatch(shown):
            return _principal_of(self.sessions.authenticate(shown), address)
        if shown is not None:
            return Principal(self.check_token(shown, headers, address), address, None)
        found = ticket_in(scope) if scope["type"] == "http" and scope["method"] == "GET" else None
        if found is not None:
            session_id = self.tickets.redeem(*found)
            session = None if session_id is None else self.sessions.get(session_id)
            return _principal_of(session, address)
        raise refusal("unauthenticated", "the request has no session", f"show the token: {WHERE}")

    def authenticate_collector(self, scope: Scope) -> CollectorAuthority:
        """Check a collector's proof and return its authority. Raises as `check_token`."""
        proof = read_authorization(Headers(scope=scope).get("authorization", ""))
        if proof is None or not is_collector(proof.subject):
            raise refusal(
                "unauthenticated",
                "a collector's proof is missing",
                "start it with `tidscope collect` of this version",
            )
        return CollectorAuthority(self._check_proof(proof, scope), self.keys, self.claims)

    def check_role_proof(self, proof: ClientProof, scope: Scope) -> Role:
        """Check a proof of a token and return its role. Raises as `check_token`."""
        role = _ROLES.get(self._check_proof(proof, scope).subject)
        if role is None:
            raise refusal(
                "unauthenticated",
                "a collector's secret opens no session",
                f"prove the token: {WHERE}",
            )
        return role

    def _check_proof(self, proof: ClientProof, scope: Scope) -> Proven:
        try:
            return self.proofs.check(proof, own_port(scope))
        except ProofError as error:
            if error.is_guess:
                self._refuse_guess(client_address(scope), counts=True)
            raise refusal(
                "unauthenticated", f"the proof is refused: {error}", "ask for a proof again"
            ) from None

    def _refuse_guess(self, address: str, *, counts: bool) -> None:
        """Count a wrong attempt. Raises ProblemError after too many from an address."""
        wait = self._attempts.wait_seconds(address)
        if wait:
            seconds = math.ceil(wait)
            raise refusal(
                "too-many-attempts",
                f"too many wrong tokens came from {address}",
                f"wait {seconds} s, then use the token that `tidscope up` printed",
                retry_after=str(seconds),
            )
        if counts:
            self._attempts.record_failure(address)

    def _grant_of_token(self, given: str) -> Grant | None:
        # Compare with all tokens, so that timing does not reveal a near match.
        found = [
            grant
            for grant, token in self._tokens.items()
            if hmac.compare_digest(given.encode(), token)
        ]
        return found[0] if found else None


def _principal_of(session: Session | None, address: str) -> Principal:
    if session is None:
        raise refusal(
            "unauthenticated",
            "this session has ended or expired",
            f"sign in again with the token: {WHERE}",
        )
    return Principal(session.role, address, session)


def client_address(scope: Scope) -> str:
    """Return the address of the peer."""
    client = scope.get("client")
    return str(client[0]) if client else "unknown"


def own_port(scope: Scope) -> int | None:
    """Return the port that the peer connected to."""
    server = scope.get("server")
    return int(server[1]) if server and server[1] is not None else None


def set_principal(scope: Scope, principal: Principal) -> None:
    """Store the author of a request."""
    scope[_PRINCIPAL] = principal


def principal_of(scope: Scope) -> Principal:
    """Return the author of a request that reached a route."""
    principal: Principal = scope[_PRINCIPAL]
    return principal


def find_principal(scope: Scope) -> Principal | None:
    """Return the author of a request to a public route; None without a credential."""
    found: Principal | None = scope.get(_PRINCIPAL)
    return found


class FailedAttempts:
    """Counts of recent wrong tokens by address, bounded for any number of addresses.

    Args:
        limit: wrong tokens within the window before an address has to wait.
        window_seconds: time without wrong tokens after which the count restarts.
        addresses: maximum number of remembered addresses.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        limit: int = 10,
        window_seconds: float = 30,
        addresses: int = 1024,
    ) -> None:
        self._clock = clock
        self._limit = limit
        self._window = window_seconds
        self._addresses = addresses
        self._failures: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def wait_seconds(self, address: str) -> float:
        """Return the time an address has to wait before the next try; 0 if none."""
        count, last = self._failures.get(address, (0, 0.0))
        left = last + self._window - self._clock()
        return left if count >= self._limit and left > 0 else 0.0

    def record_failure(self, address: str) -> None:
        """Count a wrong token of an address."""
        now = self._clock()
        count, last = self._failures.pop(address, (0, now))
        self._failures[address] = (count + 1 if now - last < self._window else 1, now)
        while len(self._failures) > self._addresses:
            self._failures.popitem(last=False)


LIVE_PROTOCOL = "tidscope.v1"
SESSION_PROTOCOL = "tidscope.session."
"""Prefix of a subprotocol with a session's credential; browsers cannot add WebSocket headers."""
TICKET = "ticket"


def bearer(headers: Mapping[str, str]) -> str | None:
    """Return the credential of an Authorization header of kind Bearer, or None."""
    kind, _, credential = headers.get("authorization", "").partition(" ")
    return credential.strip() if kind.lower() == "bearer" and credential.strip() else None


def offered_session(subprotocols: list[str]) -> str | None:
    """Return the session's credential among a WebSocket's offered subprotocols, or None."""
    for name in subprotocols:
        if name.startswith(SESSION_PROTOCOL):
            return name.removeprefix(SESSION_PROTOCOL)
    return None


def accepted_protocol(scope: Scope) -> str | None:
    """Return the offered subprotocol to accept, which is never a credential."""
    return LIVE_PROTOCOL if LIVE_PROTOCOL in scope.get("subprotocols", []) else None


def ticket_in(scope: Scope) -> tuple[str, str] | None:
    """Return the ticket at the end of a request's query, and the address without it."""
    query, _, ticket = scope["query_string"].decode("latin-1").rpartition(f"{TICKET}=")
    if not ticket or (query and not query.endswith("&")):
        return None
    path = scope["raw_path"].decode("latin-1")
    return ticket, f"{path}?{query[:-1]}" if query else path


TICKET_SECONDS = 10.0
MAX_TICKETS = 256


@dataclass(frozen=True)
class _Ticket:
    session_id: str
    path: str
    expires_s: float


class Tickets:
    """Single-use tickets, each for one path of one session, valid for some seconds.

    Args:
        clock: seconds, monotonic.
        most: maximum number of unused tickets; beyond it, the oldest are dropped.
    """

    def __init__(self, clock: Callable[[], float], most: int = MAX_TICKETS) -> None:
        self._clock = clock
        self._most = most
        self._waiting: dict[str, _Ticket] = {}

    def issue(self, session_id: str, path: str) -> str:
        """Make a ticket for a path, which may include a query."""
        now = self._clock()
        self._waiting = {key: kept for key, kept in self._waiting.items() if kept.expires_s > now}
        while len(self._waiting) >= self._most:
            del self._waiting[next(iter(self._waiting))]
        ticket = secrets.token_urlsafe(32)
        self._waiting[_digest(ticket)] = _Ticket(session_id, path, now + TICKET_SECONDS)
        return ticket

    def redeem(self, ticket: str, path: str) -> str | None:
        """Consume a ticket.

        Args:
            ticket: ticket as issued.
            path: requested path, with the query except the ticket.

        Returns:
            ID of the ticket's session; None if the ticket is not valid for this path now.
        """
        found = self._waiting.pop(_digest(ticket), None)
        if found is None or found.expires_s <= self._clock() or found.path != path:
            return None
        return found.session_id


def _digest(ticket: str) -> str:
    return hashlib.sha256(ticket.encode()).hexdigest()
