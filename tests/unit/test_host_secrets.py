"""Secrets of hosts: the file, and proofs that a collector has one."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tidscope_backend.connections.connection import CloseError
from tidscope_backend.security.collector_access import (
    MAX_USED,
    TTL_SECONDS,
    HostClaims,
    ProofError,
    Proofs,
)
from tidscope_backend.security.host_file import MAX_HOST_IDS, HostFile, HostFileError
from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.generated.models import ClientProof, ProofResponse
from tidscope_wire.proof import Credential, ImpostorError, SignInAttempt, exchange_of

NOW = 1_000_000.0
A, B = "h-aaaaaaaaaaaa", "h-bbbbbbbbbbbb"
WEB, DB, DEFAULT = "collector:web", "collector:db", "collector:default"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "hosts.json"


@pytest.fixture
def file(path: Path) -> HostFile:
    made = HostFile(path)
    made.add("web", NOW)
    made.add("db", NOW)
    return made


def keys(file: HostFile, name: str, at: float = NOW) -> list[bytes]:
    entry = file.entries().get(name)
    return [] if entry is None else entry.keys(at)


def test_nobody_else_may_read_it(file: HostFile, path: Path) -> None:
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert len({key for name in ("web", "db") for key in keys(file, name)}) == 2


def test_a_file_that_others_may_read_is_not_used(file: HostFile, path: Path) -> None:
    path.chmod(0o640)
    with pytest.raises(HostFileError, match="others may use it"):
        HostFile(path).entries()


def test_a_file_of_somebody_else_is_not_used(file: HostFile, path: Path) -> None:
    os.chown(path, 65534, -1)
    with pytest.raises(HostFileError, match="another user"):
        HostFile(path).entries()


@pytest.mark.parametrize("text", ["", "{}", "[{}]", '[{"name":"a","key":"xy","added_unix_s":1}]'])
def test_a_damaged_file_is_named(file: HostFile, path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(HostFileError, match="is not a file of hosts"):
        file.entries()


def test_a_link_is_not_followed(file: HostFile, path: Path, tmp_path: Path) -> None:
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HostFileError):
        HostFile(path).entries()


def test_a_change_by_another_process_is_noticed(file: HostFile, path: Path) -> None:
    before = keys(file, "web")
    other = HostFile(path)
    other.rotate("web", NOW, 60)
    assert keys(file, "web")[1:] == before
    other.revoke("web")
    assert keys(file, "web") == []
    assert keys(file, "db") != []


def test_an_old_key_is_good_until_its_grace_ends(file: HostFile) -> None:
    old = keys(file, "web")
    new = file.rotate("web", NOW, 60)
    assert keys(file, "web", NOW + 59) == [new, *old]
    assert keys(file, "web", NOW + 60) == [new]
    newest = file.rotate("web", NOW, 0)
    assert keys(file, "web") == [newest]


def test_names_are_added_once_and_have_to_exist(file: HostFile) -> None:
    with pytest.raises(HostFileError, match="rotate web"):
        file.add("web", NOW)
    for change in (lambda: file.rotate("x", NOW, 0), lambda: file.revoke("x")):
        with pytest.raises(HostFileError, match="no host x"):
            change()


def apart(_: str) -> bool:
    return False


def claim(
    claims: HostClaims, subject: str, host_id: str, connected: Callable[[str], bool] = apart
) -> str:
    """Empty if it is let through; else why not."""
    try:
        claims.claim(subject, host_id, connected)
    except CloseError as error:
        assert error.code == CloseCode.WRONG_HOST
        return error.reason
    return ""


def test_a_host_belongs_to_the_first_secret_that_spoke_for_it(file: HostFile, path: Path) -> None:
    claims = HostClaims(file)
    assert claim(claims, WEB, A) == ""
    assert claim(claims, DB, A) == f"host {A} has the secret of {WEB}, not of {DB}"
    assert WEB in claim(claims, DEFAULT, A)
    # After a restart of the backend, too.
    restarted = HostClaims(HostFile(path))
    assert WEB in claim(restarted, DB, A)
    assert claim(restarted, WEB, A) == ""


def test_a_secret_is_of_one_host_at_a_time(file: HostFile) -> None:
    claims = HostClaims(file)
    claim(claims, WEB, A)
    refused = claim(claims, WEB, B, lambda host_id: host_id == A)
    assert refused == f"the secret of {WEB} is of host {A}, not {B}"
    # A boot later the same machine has another id; what it had stays its own.
    assert claim(claims, WEB, B) == ""
    assert WEB in claim(claims, DB, A)


def test_the_secret_in_the_environment_is_of_one_host_as_well(file: HostFile) -> None:
    for claims in (HostClaims(None), HostClaims(file)):
        assert claim(claims, DEFAULT, A) == ""
        assert DEFAULT in claim(claims, DEFAULT, B, lambda host_id: host_id == A)
    assert DEFAULT in claim(claims, WEB, A)


def test_a_revoked_host_can_be_added_again(file: HostFile) -> None:
    claims = HostClaims(file)
    claim(claims, WEB, A)
    file.revoke("web")
    assert claim(claims, DB, A) == ""


@pytest.mark.parametrize("subject", [WEB, DEFAULT])
def test_what_is_remembered_is_bounded(file: HostFile, subject: str) -> None:
    claims = HostClaims(file)
    for number in range(3 * MAX_HOST_IDS):
        assert claim(claims, subject, f"h-{number:012x}") == ""
    first, last = f"h-{0:012x}", f"h-{3 * MAX_HOST_IDS - 1:012x}"
    assert subject in claim(claims, DB, last)
    assert claim(claims, DB, first) == ""


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
    """Result of a client that dialled `port`, with a backend reached at PORT."""
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
    # The nonce has expired by the time that its use is forgotten.
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
