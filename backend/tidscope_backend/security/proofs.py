"""The backend's side of a proof: it proves first, and takes each proof of a client once."""

import hashlib
import hmac
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tidscope_wire.generated.models import ClientProof, ProofRequest, ProofResponse
from tidscope_wire.proof import KEY_BYTES, By, Exchange, exchange_of

TTL_SECONDS = 10.0
PROOFS = 2
"""In every response: of the newest key, and of the one before."""
MAX_USED = 1000
"""Nonces of each subject that are remembered as used: only who knows its secret uses one."""
_TIME_BYTES, _RANDOM_BYTES, _MAC_BYTES = 8, 16, 16


class Keys(Protocol):
    """The keys of those who may sign in."""

    def valid(self, subject: str) -> Sequence[bytes]:
        """Keys of a subject that are good now, the newest first; none if it is unknown."""


class ProofError(Exception):
    """A client's proof is refused.

    Attributes:
        is_guess: whether it is wrong, and not only late.
    """

    def __init__(self, reason: str, *, is_guess: bool) -> None:
        super().__init__(reason)
        self.is_guess = is_guess


@dataclass(frozen=True)
class Proven:
    """A client that knows a secret.

    Attributes:
        subject: whose secret.
        key: which of its keys.
        accepted: the backend's third proof.
    """

    subject: str
    key: bytes = field(repr=False)
    accepted: str


class Proofs:
    """Keeps nothing of an exchange that has begun: its nonce holds time and origin.

    An unknown subject gets a proof under a random key: from outside it is a wrong secret.

    Args:
        keys: of the subjects.
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
            request: of the client.
            port: that it has reached. A client that dialled another one was passed on by somebody.
        """
        nonce = self._new_nonce(request.subject, request.nonce, request.port)
        exchange = Exchange(request.subject, request.nonce, nonce, request.port)
        return ProofResponse(nonce=nonce, proofs=self._proofs(exchange, port))

    def check(self, proof: ClientProof, port: int | None) -> Proven:
        """Check a client's proof, and use its nonce up.

        Raises:
            ProofError: it is wrong, late, or was used before.
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
        # They are in the order of their times.
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
        """Seconds since a nonce was made for this exchange; None if it was not made here."""
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
