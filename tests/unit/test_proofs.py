"""The backend's side of a proof: late, used, invented, of another port, of nobody."""

from collections.abc import Sequence

import pytest
from tidscope_backend.security.collector_access import MAX_USED, TTL_SECONDS, ProofError, Proofs
from tidscope_wire.generated.models import ClientProof, ProofResponse
from tidscope_wire.proof import Credential, ImpostorError, SignInAttempt, exchange_of

PORT = 8787
NEW, OLD, WRONG = b"n" * 32, b"o" * 32, b"w" * 32


class Known:
    """Keys of one host whose secret is being rotated, and of an operator."""

    def valid(self, subject: str) -> Sequence[bytes]:
        return {"collector:web": (NEW, OLD), "operator": (NEW,)}.get(subject, ())


class Clock:
    """Goes on when the test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def proofs(clock: Clock) -> Proofs:
    return Proofs(Known(), clock)


def prove(
    proofs: Proofs, key: bytes, subject: str = "collector:web", port: int | None = PORT
) -> tuple[SignInAttempt, ClientProof]:
    """What a client that dialled `port` does with a backend that is reached at PORT."""
    attempt = SignInAttempt(Credential(subject, key), b"c" * 32, port)
    return attempt, attempt.answer(proofs.prove(attempt.request, PORT))


def refused(proofs: Proofs, proof: ClientProof, port: int = PORT) -> ProofError:
    with pytest.raises(ProofError) as refusal:
        proofs.check(proof, port)
    return refusal.value


@pytest.mark.parametrize("key", [NEW, OLD])
def test_both_know_the_secret(proofs: Proofs, key: bytes) -> None:
    attempt, proof = prove(proofs, key)
    proven = proofs.check(proof, PORT)
    assert (proven.subject, proven.key) == ("collector:web", key)
    attempt.check_accepted(proven.accepted)


def test_a_proof_is_good_once(proofs: Proofs, clock: Clock) -> None:
    _, proof = prove(proofs, NEW)
    proofs.check(proof, PORT)
    assert not refused(proofs, proof).is_guess
    # And it is late by the time that its use is forgotten.
    for _ in range(30):
        clock.now += 0.5
        refused(proofs, proof)


def test_who_uses_many_keeps_nobody_else_out(proofs: Proofs, clock: Clock) -> None:
    for _ in range(MAX_USED):
        _, proof = prove(proofs, NEW)
        proofs.check(proof, PORT)
    _, proof = prove(proofs, NEW)
    assert not refused(proofs, proof).is_guess
    _, other = prove(proofs, NEW, subject="operator")
    proofs.check(other, PORT)
    clock.now += TTL_SECONDS + 2
    _, proof = prove(proofs, NEW)
    proofs.check(proof, PORT)


def test_a_late_proof_is_refused_and_is_no_guess(proofs: Proofs, clock: Clock) -> None:
    _, proof = prove(proofs, NEW)
    clock.now += TTL_SECONDS + 0.1
    assert not refused(proofs, proof).is_guess


def test_a_proof_with_another_key_is_a_guess(proofs: Proofs) -> None:
    _, proof = prove(proofs, NEW)
    wrong = proof.model_copy(update={"proof": exchange_of(proof).proof(WRONG, "client")})
    assert refused(proofs, wrong).is_guess
    # The nonce is not used up by it.
    proofs.check(proof, PORT)


@pytest.mark.parametrize("by", ["backend", "accepted"])
def test_the_backends_own_proofs_are_none_of_a_client(proofs: Proofs, by: str) -> None:
    _, proof = prove(proofs, NEW)
    own = exchange_of(proof).proof(NEW, "backend" if by == "backend" else "accepted")
    assert refused(proofs, proof.model_copy(update={"proof": own})).is_guess


@pytest.mark.parametrize(
    "change",
    [
        {"subject": "operator"},
        {"client_nonce": "00" * 32},
        {"backend_nonce": "00" * 40},
        {"port": None},
    ],
)
def test_a_nonce_is_for_one_exchange(proofs: Proofs, change: dict[str, str]) -> None:
    _, proof = prove(proofs, NEW)
    changed = proof.model_copy(update=change)
    own = changed.model_copy(update={"proof": exchange_of(changed).proof(NEW, "client")})
    assert refused(proofs, own).is_guess


def test_a_nonce_of_another_backend_is_refused(proofs: Proofs, clock: Clock) -> None:
    _, proof = prove(Proofs(Known(), clock), NEW)
    assert refused(proofs, proof).is_guess


def test_a_client_that_was_passed_on_to_another_port_learns_that(proofs: Proofs) -> None:
    with pytest.raises(ImpostorError):
        prove(proofs, NEW, port=PORT + 1)
    attempt, proof = prove(proofs, NEW, port=None)
    attempt.check_accepted(proofs.check(proof, PORT).accepted)


@pytest.mark.parametrize("subject", ["collector:nobody", "viewer"])
def test_an_unknown_subject_looks_like_a_wrong_secret(proofs: Proofs, subject: str) -> None:
    unknown = SignInAttempt(Credential(subject, NEW), b"c" * 32, PORT)
    known = SignInAttempt(Credential("collector:web", WRONG), b"c" * 32, PORT)
    for attempt in (unknown, known):
        response = proofs.prove(attempt.request, PORT)
        assert shape(response) == shape(proofs.prove(known.request, PORT))
        with pytest.raises(ImpostorError):
            attempt.answer(response)
        # Nor does a second question with the same nonce tell.
        again = proofs.prove(attempt.request, PORT)
        assert not set(again.proofs) & set(response.proofs)
    reasons = set()
    for attempt in (unknown, known):
        request = attempt.request
        proof = ClientProof(
            subject=request.subject,
            client_nonce=request.nonce,
            backend_nonce=proofs.prove(request, PORT).nonce,
            port=request.port,
            proof="0" * 64,
        )
        error = refused(proofs, proof)
        reasons.add((str(error), error.is_guess))
    assert len(reasons) == 1


def shape(response: ProofResponse) -> list[int]:
    return [len(response.nonce), *(len(proof) for proof in response.proofs)]
