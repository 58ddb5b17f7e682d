"""Mutual proof of a shared secret without sending it (docs/decisions/0016). Pure.

The client sends a nonce. The backend answers with its own and an HMAC over both; only then does the
client send its HMAC. Where the client goes on in another connection (a collector does), the backend
accepts with a third one. Nonces, HMACs and keys are hexadecimal on the wire, lower case, so that
there is one way to write each.
"""

import base64
import binascii
import hashlib
import hmac
import re
from dataclasses import dataclass, field
from typing import Literal

from pydantic import ValidationError

from tidscope_wire.generated.models import ClientProof, ProofRequest, ProofResponse

PROOF_SCHEME = "Tidscope-Proof"
"""Scheme of the Authorization header of a client, and name of the header that accepts it."""
DEFAULT_HOST_NAME = "default"
HOST_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?")
KEY_BYTES = 32
NONCE_BYTES = 32
By = Literal["backend", "client", "accepted"]
"""Kind of HMAC, which is authenticated too: none can replace another."""

_LABEL = b"tidscope proof 1"
_SCRYPT_N, _SCRYPT_R, _SCRYPT_P = 1 << 14, 8, 1
_SCRYPT_MEMORY = 1 << 26
_HOST_SECRET = re.compile(rf"tidscope\.({HOST_NAME.pattern})\.([0-9a-f]{{{2 * KEY_BYTES}}})")


class ImpostorError(Exception):
    """The peer did not prove that it knows the secret."""


@dataclass(frozen=True)
class Credential:
    """A secret's subject and derived key.

    Attributes:
        subject: owner: operator, viewer, or collector:NAME.
        key: 32 bytes.
    """

    subject: str
    key: bytes = field(repr=False)


def collector_subject(name: str) -> str:
    """Subject of a host's collector."""
    return f"collector:{name}"


def is_collector(subject: str) -> bool:
    """True if a subject is a collector."""
    return subject.startswith(collector_subject(""))


def stretch(subject: str, secret: str) -> bytes:
    """Derive the key of a human-chosen secret: about 30 ms and 16 MiB for each guess."""
    return hashlib.scrypt(
        secret.encode(),
        salt=_LABEL + b" " + subject.encode(),
        n=_SCRYPT_N,
        r=_SCRYPT_R,
        p=_SCRYPT_P,
        maxmem=_SCRYPT_MEMORY,
        dklen=KEY_BYTES,
    )


def host_secret(name: str, key: bytes) -> str:
    """Make a host's secret for its collector: name and random key, which needs no stretching."""
    return f"tidscope.{name}.{key.hex()}"


def host_name(secret: str) -> str:
    """Name of the host that a secret belongs to."""
    made = _HOST_SECRET.fullmatch(secret)
    return made[1] if made else DEFAULT_HOST_NAME


def host_credential(secret: str) -> Credential:
    """Parse a collector's secret: made by `host_secret`, or chosen for the host `default`."""
    made = _HOST_SECRET.fullmatch(secret)
    if made:
        return Credential(collector_subject(made[1]), bytes.fromhex(made[2]))
    subject = collector_subject(DEFAULT_HOST_NAME)
    return Credential(subject, stretch(subject, secret))


@dataclass(frozen=True)
class Exchange:
    """The facts that both sides authenticate.

    Attributes:
        subject: owner of the secret.
        client_nonce: chosen by the client.
        backend_nonce: chosen by the backend.
        port: port that the client dialled; None if TLS authenticates the server.
    """

    subject: str
    client_nonce: str
    backend_nonce: str
    port: int | None

    def transcript(self, by: By) -> bytes:
        """The authenticated bytes: each part follows its length, so the encoding is unambiguous."""
        port = "" if self.port is None else str(self.port)
        texts = (by, self.subject, self.client_nonce, self.backend_nonce, port)
        parts = (_LABEL, *(text.encode() for text in texts))
        return b"".join(len(part).to_bytes(4, "big") + part for part in parts)

    def proof(self, key: bytes, by: By) -> str:
        """HMAC-SHA256 of the transcript."""
        return hmac.new(key, self.transcript(by), hashlib.sha256).hexdigest()

    def is_proof(self, key: bytes, by: By, given: str) -> bool:
        """Check a proof, in constant time."""
        return hmac.compare_digest(self.proof(key, by).encode(), given.encode())


class SignInAttempt:
    """The client's side of one exchange.

    Args:
        credential: the client's secret.
        nonce: fresh random value.
        port: as in Exchange.
    """

    def __init__(self, credential: Credential, nonce: bytes, port: int | None) -> None:
        self._credential = credential
        self.request = ProofRequest(subject=credential.subject, nonce=nonce.hex(), port=port)
        self._exchange: Exchange | None = None

    def answer(self, response: ProofResponse) -> ClientProof:
        """Check the backend's proof and return the client's.

        Raises:
            ImpostorError: the backend does not know the secret.
        """
        request, key = self.request, self._credential.key
        exchange = Exchange(request.subject, request.nonce, response.nonce, request.port)
        if not any(exchange.is_proof(key, "backend", proof) for proof in response.proofs):
            raise ImpostorError
        self._exchange = exchange
        return ClientProof(
            subject=request.subject,
            client_nonce=request.nonce,
            backend_nonce=response.nonce,
            port=request.port,
            proof=exchange.proof(key, "client"),
        )

    def check_accepted(self, proof: str) -> None:
        """Check that the acceptance comes from the backend that proved itself before.

        Raises:
            ImpostorError: it comes from another peer.
        """
        exchange = self._exchange
        if exchange is None or not exchange.is_proof(self._credential.key, "accepted", proof):
            raise ImpostorError


def exchange_of(proof: ClientProof) -> Exchange:
    """Return the exchange that a client's proof belongs to."""
    return Exchange(proof.subject, proof.client_nonce, proof.backend_nonce, proof.port)


def authorization(proof: ClientProof) -> str:
    """Format a client's proof as an Authorization header."""
    return f"{PROOF_SCHEME} {base64.b64encode(proof.model_dump_json().encode()).decode()}"


def read_authorization(header: str) -> ClientProof | None:
    """Parse a client's proof from an Authorization header, or return None."""
    scheme, _, value = header.partition(" ")
    if scheme.lower() != PROOF_SCHEME.lower():
        return None
    try:
        return ClientProof.model_validate_json(base64.b64decode(value.strip(), validate=True))
    except (ValidationError, binascii.Error, ValueError):
        return None
