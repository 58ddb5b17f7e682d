"""Authentication by tokens, sessions, tickets and collector secrets.

A credential is in a header, in the subprotocols of a WebSocket, or in the query as a ticket, which
a browser shows where it cannot send a header. Wrong tokens are counted, to limit guessing.
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
        grant: what they may do.
        address: where they are.
        session: theirs; None: they show a token with each request.
    """

    grant: Grant
    address: str
    session: Session | None

    @property
    def role(self) -> Role:
        """The role of their session or token."""
        return "operator" if self.grant == "operator" else "viewer"

    @property
    def sees_arguments(self) -> bool:
        """Whether they are shown arguments and output of programs."""
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
"""Form of a session's credential: unlike a token, a wrong one is not counted."""


class Authenticator:
    """Checks credentials and says what they grant.

    Args:
        settings: the tokens and secrets.
        sessions: the open sessions.
        hosts: the secrets of hosts; None: there are none.
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
        self._claims = HostClaims(hosts)
        self.tickets = Tickets(clock)
        self._tokens: dict[Grant, bytes] = {
            "operator": settings.token.encode(),
            "viewer": settings.view_token.encode(),
        }
        if settings.metrics_token is not None:
            self._tokens["metrics"] = settings.metrics_token.encode()
        self._attempts = FailedAttempts(clock)

    def check_token(self, given: str, headers: Mapping[str, str], address: str) -> Grant:
        """Check a token. A right one is accepted whatever came before it.

        Returns:
            What it grants.

        Raises:
            ProblemError: it is wrong; of kind too-many-attempts after too many wrong ones from
                this address.
        """
        grant = self._grant_of_token(given)
        if grant is not None:
            return grant
        # Any page that a person opens can make their browser send wrong tokens here.
        self._refuse_guess(address, counts=headers.get("sec-fetch-site") != "cross-site")
        raise refusal("unauthenticated", "this is not the token of this backend", WHERE)

    def authenticate(self, scope: Scope) -> Principal:
        """Check the credential of a request, wherever it carries one.

        Raises:
            ProblemError: it has none, or one that is not valid.
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
        """Check a collector's proof; what it may speak for. Raises as `check_token`."""
        proof = read_authorization(Headers(scope=scope).get("authorization", ""))
        if proof is None or not is_collector(proof.subject):
            raise refusal(
                "unauthenticated",
                "a collector's proof is missing",
                "start it with `tidscope collect` of this version",
            )
        return CollectorAuthority(self._check_proof(proof, scope), self.keys, self._claims)

    def check_role_proof(self, proof: ClientProof, scope: Scope) -> Role:
        """Check a proof that a token is known; the role that it gives. Raises as `check_token`."""
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
        """Count something wrong. Raises ProblemError after too much of it from an address."""
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
        # All are compared, so that the time does not tell which one was nearly right.
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
    """Address of the peer."""
    client = scope.get("client")
    return str(client[0]) if client else "unknown"


def own_port(scope: Scope) -> int | None:
    """Port that the peer has reached."""
    server = scope.get("server")
    return int(server[1]) if server and server[1] is not None else None


def set_principal(scope: Scope, principal: Principal) -> None:
    """Note who makes a request."""
    scope[_PRINCIPAL] = principal


def principal_of(scope: Scope) -> Principal:
    """The author of a request that reached a route."""
    principal: Principal = scope[_PRINCIPAL]
    return principal


def find_principal(scope: Scope) -> Principal | None:
    """The same where anybody is let through; None if they showed nothing."""
    found: Principal | None = scope.get(_PRINCIPAL)
    return found


class FailedAttempts:
    """How many wrong tokens each address has shown lately. Bounded, whoever comes.

    Args:
        limit: wrong ones within the window before an address has to wait.
        window_seconds: after so long without one the count starts again.
        addresses: how many addresses are remembered.
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
        """How long an address has to wait before its next try; 0 if it need not."""
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
"""A browser cannot give a WebSocket a header: behind this stands its session's credential."""
TICKET = "ticket"


def bearer(headers: Mapping[str, str]) -> str | None:
    """The credential of an Authorization header of kind Bearer, if there is one."""
    kind, _, credential = headers.get("authorization", "").partition(" ")
    return credential.strip() if kind.lower() == "bearer" and credential.strip() else None


def offered_session(subprotocols: list[str]) -> str | None:
    """The session's credential among the subprotocols that a WebSocket offers, if there is one."""
    for name in subprotocols:
        if name.startswith(SESSION_PROTOCOL):
            return name.removeprefix(SESSION_PROTOCOL)
    return None


def accepted_protocol(scope: Scope) -> str | None:
    """The subprotocol to accept of those that a WebSocket offers; a credential never is one."""
    return LIVE_PROTOCOL if LIVE_PROTOCOL in scope.get("subprotocols", []) else None


def ticket_in(scope: Scope) -> tuple[str, str] | None:
    """The ticket at the end of a request's query, and the address without it."""
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
    """Each is good once, for one path of one session, for some seconds.

    Args:
        clock: seconds, monotonic.
        most: how many wait to be used; the oldest give way.
    """

    def __init__(self, clock: Callable[[], float], most: int = MAX_TICKETS) -> None:
        self._clock = clock
        self._most = most
        self._waiting: dict[str, _Ticket] = {}

    def issue(self, session_id: str, path: str) -> str:
        """Make a ticket for a path, which may have a query."""
        now = self._clock()
        self._waiting = {key: kept for key, kept in self._waiting.items() if kept.expires_s > now}
        while len(self._waiting) >= self._most:
            del self._waiting[next(iter(self._waiting))]
        ticket = secrets.token_urlsafe(32)
        self._waiting[_digest(ticket)] = _Ticket(session_id, path, now + TICKET_SECONDS)
        return ticket

    def redeem(self, ticket: str, path: str) -> str | None:
        """Use a ticket up.

        Args:
            ticket: as it was issued.
            path: that is asked for, with its query but for the ticket.

        Returns:
            The id of its session; None if it is not good for this path now.
        """
        found = self._waiting.pop(_digest(ticket), None)
        if found is None or found.expires_s <= self._clock() or found.path != path:
            return None
        return found.session_id


def _digest(ticket: str) -> str:
    return hashlib.sha256(ticket.encode()).hexdigest()
