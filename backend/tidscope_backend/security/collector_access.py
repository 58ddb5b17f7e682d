"""Secrets of collectors, each bound to one host, and proofs of the secrets.

The backend proves itself first, and accepts each proof of a client once.
"""

import hashlib
import hmac
import logging
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from starlette.types import Scope
from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.generated.models import ClientProof, ProofRequest, ProofResponse
from tidscope_wire.proof import (
    DEFAULT_HOST_NAME,
    KEY_BYTES,
    By,
    Exchange,
    collector_subject,
    exchange_of,
    host_credential,
    stretch,
)

from tidscope_backend.connections.connection import CloseError
from tidscope_backend.security.host_file import MAX_HOST_IDS, HostFile, HostFileError
from tidscope_backend.settings import Settings

_log = logging.getLogger(__name__)
_PREFIX = collector_subject("")
_AUTHORITY = "tidscope.authority"
DEFAULT = collector_subject(DEFAULT_HOST_NAME)
_NATS = "nats:"
"""Prefix of hosts whose key a NATS server has checked."""


class SecretKeys:
    """Keys of all subjects: tokens, the default collector's secret, and the hosts' own.

    Args:
        settings: has the tokens and the default collector's secret.
        hosts: the secrets of hosts, or None.
        unix_clock: Unix time in seconds.
    """

    def __init__(
        self, settings: Settings, hosts: HostFile | None, unix_clock: Callable[[], float]
    ) -> None:
        self._hosts = hosts
        self._unix_clock = unix_clock
        self._derive: dict[str, Callable[[], bytes]] = {
            "operator": lambda: stretch("operator", settings.token),
            "viewer": lambda: stretch("viewer", settings.view_token),
            DEFAULT: lambda: host_credential(settings.collector_secret).key,
        }
        self._derived: dict[str, bytes] = {}
        self._said = ""

    def is_slow(self, subject: str) -> bool:
        """Return True if the next `valid` takes about 30 ms, as a subject's first does."""
        return subject in self._derive and subject not in self._derived

    def valid(self, subject: str) -> Sequence[bytes]:
        """Return the valid keys of a subject, newest first; empty if the subject is unknown."""
        if subject in self._derive:
            if subject not in self._derived:
                self._derived[subject] = self._derive[subject]()
            return (self._derived[subject],)
        if self._hosts is None or not subject.startswith(_PREFIX):
            return ()
        try:
            entry = self._hosts.entries().get(subject.removeprefix(_PREFIX))
        except HostFileError as error:
            self._say(str(error))
            return ()
        return entry.keys(self._unix_clock()) if entry is not None else ()

    def _say(self, text: str) -> None:
        if text != self._said:
            self._said = text
            _log.error("%s", text)


class HostClaims:
    """Bindings between secrets and hosts: one secret per host, one host per secret.

    A host's ID changes at boot. A secret may move to a new ID when the host of the old ID is
    disconnected. A host ID never moves to another secret.

    Args:
        hosts: stores the binding of each host's secret; the default collector's secret and keys of
            NATS are bound in memory only.
    """

    def __init__(self, hosts: HostFile | None) -> None:
        self._hosts = hosts
        self._unfiled: dict[str, list[str]] = {}

    def claim(self, subject: str, host_id: str, is_connected: Callable[[str], bool]) -> None:
        """Bind a host to a collector's proven secret.

        Args:
            subject: subject of the secret.
            host_id: host ID in the hello.
            is_connected: returns whether the collector of a host ID is connected.

        Raises:
            CloseError: the host is bound to another secret, or the secret to another host.
        """
        try:
            self._claim(subject, host_id, is_connected)
        except HostFileError as error:
            raise CloseError(CloseCode.WRONG_HOST, str(error)) from None

    def _claim(self, subject: str, host_id: str, is_connected: Callable[[str], bool]) -> None:
        entries = self._hosts.entries() if self._hosts is not None else {}
        owned = {collector_subject(name): entry.host_ids for name, entry in entries.items()}
        owned |= {owner: tuple(host_ids) for owner, host_ids in self._unfiled.items()}
        for owner, host_ids in owned.items():
            if owner != subject and host_id in host_ids:
                raise CloseError(
                    CloseCode.WRONG_HOST,
                    f"host {host_id} has the secret of {owner}, not of {subject}",
                )
        mine = owned.get(subject, ())
        if mine and mine[-1] == host_id:
            return
        if mine and is_connected(mine[-1]):
            raise CloseError(
                CloseCode.WRONG_HOST,
                f"the secret of {subject} is of host {mine[-1]}, not {host_id}",
            )
        if subject == DEFAULT or subject.startswith(_NATS):
            others = [one for one in mine if one != host_id]
            self._unfiled[subject] = [*others, host_id][-MAX_HOST_IDS:]
        elif self._hosts is not None:
            self._hosts.pin(subject.removeprefix(_PREFIX), host_id)


@dataclass(frozen=True)
class Proven:
    """A client that knows a secret.

    Attributes:
        subject: subject of the secret.
        key: matching key of the subject.
        accepted: the backend's third proof.
    """

    subject: str
    key: bytes = field(repr=False)
    accepted: str


class CollectorAuthority:
    """The hosts that one collector may represent, by its proven secret.

    Args:
        proven: proven secret.
        keys: valid keys.
        claims: bindings between secrets and hosts.
    """

    def __init__(self, proven: Proven, keys: SecretKeys, claims: HostClaims) -> None:
        self.accepted = proven.accepted
        self._proven, self._keys, self._claims = proven, keys, claims

    def claim(self, host_id: str, is_connected: Callable[[str], bool]) -> None:
        """Claim a host for the collector. Raises CloseError if the secret is not the host's."""
        self._claims.claim(self._proven.subject, host_id, is_connected)

    def check(self) -> None:
        """Check the secret. Raises CloseError if it is no longer valid."""
        if self._proven.key not in self._keys.valid(self._proven.subject):
            raise CloseError(
                CloseCode.UNAUTHENTICATED,
                f"the secret of {self._proven.subject} is not valid any more",
            )


class NatsAuthority:
    """The hosts that the key of one host's subjects may represent; servers check the key.

    Args:
        name: name in the subjects.
        claims: bindings between secrets and hosts.

    Attributes:
        host_ids: hosts that were claimed.
    """

    def __init__(self, name: str, claims: HostClaims) -> None:
        self._subject, self._claims = f"{_NATS}{name}", claims
        self.host_ids: set[str] = set()

    def claim(self, host_id: str, is_connected: Callable[[str], bool]) -> None:
        """Claim a host for the collector. Raises CloseError if it is another key's or secret's."""
        self._claims.claim(self._subject, host_id, is_connected)
        self.host_ids.add(host_id)

    def check(self) -> None:
        """Do nothing: a server that does not accept the key any more passes nothing on."""


def set_authority(scope: Scope, authority: CollectorAuthority) -> None:
    """Store the authority of the collector that makes a request."""
    scope[_AUTHORITY] = authority


def authority_of(scope: Scope) -> CollectorAuthority:
    """Return the authority of an authenticated collector."""
    authority: CollectorAuthority = scope[_AUTHORITY]
    return authority


TTL_SECONDS = 10.0
PROOFS = 2
"""Proofs in every response: for the newest key and the previous one."""
MAX_USED = 1000
"""Maximum used nonces remembered per subject; using one requires the subject's secret."""
_TIME_BYTES, _RANDOM_BYTES, _MAC_BYTES = 8, 16, 16


class Keys(Protocol):
    """Source of the keys of all subjects."""

    def valid(self, subject: str) -> Sequence[bytes]:
        """Return the valid keys of a subject, newest first; empty if the subject is unknown."""


class ProofError(Exception):
    """A client's proof is refused.

    Attributes:
        is_guess: whether the proof is wrong, rather than late.
    """

    def __init__(self, reason: str, *, is_guess: bool) -> None:
        super().__init__(reason)
        self.is_guess = is_guess


class Proofs:
    """Proof exchanges, without state for open ones: a nonce contains its time and origin.

    An unknown subject gets a proof under a random key, indistinguishable from a wrong secret.

    Args:
        keys: keys of the subjects.
        clock: seconds, monotonic.
    """

    def __init__(self, keys: Keys, clock: Callable[[], float]) -> None:
        self._keys = keys
        self._clock = clock
        self._start = clock()
        self._nonce_key = secrets.token_bytes(KEY_BYTES)
        self._used: dict[str, dict[str, float]] = {}

    def prove(self, request: ProofRequest, port: int | None) -> ProofResponse:
        """Prove that this backend knows a secret.

        Args:
            request: request of the client.
            port: port of the connection. A client that dialled another port was relayed.
        """
        nonce = self._new_nonce(request.subject, request.nonce, request.port)
        exchange = Exchange(request.subject, request.nonce, nonce, request.port)
        return ProofResponse(nonce=nonce, proofs=self._proofs(exchange, port))

    def check(self, proof: ClientProof, port: int | None) -> Proven:
        """Check a client's proof, and mark its nonce as used.

        Raises:
            ProofError: the proof is wrong, late, or already used.
        """
        exchange = exchange_of(proof)
        age_s = self._age_s(exchange)
        if age_s is None:
            raise ProofError("it answers no nonce of this backend", is_guess=True)
        if age_s > TTL_SECONDS:
            raise ProofError("it comes too late", is_guess=False)
        keys = [
            key
            for key in self._keys_of(exchange, port)
            if exchange.is_proof(key, "client", proof.proof)
        ]
        if not keys:
            raise ProofError("it does not show that the secret is known", is_guess=True)
        self._use(exchange.subject, exchange.backend_nonce)
        return Proven(exchange.subject, keys[0], exchange.proof(keys[0], "accepted"))

    def _proofs(self, exchange: Exchange, port: int | None) -> list[str]:
        by: By = "backend"
        keys = [*self._keys_of(exchange, port)][:PROOFS]
        keys += [secrets.token_bytes(KEY_BYTES) for _ in range(PROOFS - len(keys))]
        return [exchange.proof(key, by) for key in keys]

    def _keys_of(self, exchange: Exchange, port: int | None) -> Sequence[bytes]:
        passed_on = exchange.port is not None and exchange.port != port
        return () if passed_on else self._keys.valid(exchange.subject)

    def _use(self, subject: str, nonce: str) -> None:
        now = self._clock()
        used = self._used.setdefault(subject, {})
        # Entries are ordered by time.
        while used and used[next(iter(used))] <= now:
            del used[next(iter(used))]
        if nonce in used:
            raise ProofError("it was used before", is_guess=False)
        if len(used) >= MAX_USED:
            raise ProofError(f"{MAX_USED} came within {TTL_SECONDS:g} s", is_guess=False)
        used[nonce] = now + TTL_SECONDS + 1

    def _new_nonce(self, subject: str, client_nonce: str, port: int | None) -> str:
        time = int((self._clock() - self._start) * 1000).to_bytes(_TIME_BYTES, "big")
        random = secrets.token_bytes(_RANDOM_BYTES)
        body = time + random
        return (body + self._mac(Exchange(subject, client_nonce, body.hex(), port))).hex()

    def _age_s(self, exchange: Exchange) -> float | None:
        """Return the age of a nonce in seconds; None if not made here for this exchange."""
        nonce = bytes.fromhex(exchange.backend_nonce)
        body, mac = nonce[:-_MAC_BYTES], nonce[-_MAC_BYTES:]
        own = self._mac(
            Exchange(exchange.subject, exchange.client_nonce, body.hex(), exchange.port)
        )
        if not hmac.compare_digest(mac, own):
            return None
        made_s = int.from_bytes(body[:_TIME_BYTES], "big") / 1000
        return self._clock() - self._start - made_s

    def _mac(self, exchange: Exchange) -> bytes:
        text = exchange.transcript("backend")
        return hmac.new(self._nonce_key, text, hashlib.sha256).digest()[:_MAC_BYTES]
