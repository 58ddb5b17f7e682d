"""Proofs: fixed vectors, and that no two exchanges and no two of their proofs can be confused."""

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tidscope_wire.generated.models import ProofResponse
from tidscope_wire.proof import (
    By,
    Credential,
    Exchange,
    ImpostorError,
    SignInAttempt,
    authorization,
    exchange_of,
    host_credential,
    host_secret,
    read_authorization,
    stretch,
)

KEY = bytes(range(32))
EXCHANGE = Exchange("operator", "ab" * 32, "cd" * 40, 8787)
ALL: tuple[By, ...] = ("backend", "client", "accepted")


@pytest.mark.parametrize(
    ("by", "proof"),
    [
        ("backend", "2077426439a31da08876fe19d7bac3e7d3e1e5abb68f3a4acdcb21b8f8b50d24"),
        ("client", "786770256b7935f4aaececac9337202a5c83a0c78c1d27b0a75d272158e05b3d"),
        ("accepted", "4dc4e54755a1dff001caa94d350dc8f04c7c1498be1d231ef1c91dcc26c727da"),
    ],
)
def test_vectors(by: By, proof: str) -> None:
    assert EXCHANGE.proof(KEY, by) == proof
    assert EXCHANGE.is_proof(KEY, by, proof)


def test_vectors_of_other_exchanges_and_of_keys() -> None:
    other = replace(EXCHANGE, subject="collector:web-1", port=None)
    expected = "1b327336f696df7f51fef75bec3580343c39ca71952f73ef1a32215bb54e1f39"
    assert other.proof(KEY, "client") == expected
    token = "token-of-the-tests"
    operator = "9d588c95ca104f9e84e8a4700be102e38fe6dfea051b2769f08a8711b9251c78"
    viewer = "4d92f1506b579c97812ac020102f01c489ce8af01dc60acf557020d5cbf0ceee"
    assert stretch("operator", token).hex() == operator
    assert stretch("viewer", token).hex() == viewer


def test_a_transcript_has_each_part_behind_its_length() -> None:
    parts = (b"tidscope proof 1", b"client", b"operator", b"ab" * 32, b"cd" * 40, b"8787")
    expected = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    assert EXCHANGE.transcript("client") == expected


def test_no_proof_stands_for_another() -> None:
    others = [
        replace(EXCHANGE, subject="viewer"),
        replace(EXCHANGE, client_nonce="ef" * 32),
        replace(EXCHANGE, backend_nonce="ef" * 40),
        replace(EXCHANGE, port=8788),
        replace(EXCHANGE, port=None),
    ]
    proofs = [one.proof(KEY, by) for one in (EXCHANGE, *others) for by in ALL]
    assert len(set(proofs)) == len(proofs)
    for key in (bytes(32), KEY[:-1] + b"\0"):
        assert not EXCHANGE.is_proof(key, "client", EXCHANGE.proof(KEY, "client"))


texts = st.text(alphabet="ab:0", max_size=4)
exchanges = st.builds(Exchange, texts, texts, texts, st.none() | st.integers(1, 65535))


@given(st.lists(st.tuples(exchanges, st.sampled_from(ALL)), unique=True, min_size=2, max_size=5))
def test_no_two_transcripts_are_the_same(given_exchanges: list[tuple[Exchange, By]]) -> None:
    for (one, by), (other, other_by) in combinations(given_exchanges, 2):
        assert one.transcript(by) != other.transcript(other_by)


def attempt(key: bytes = KEY) -> SignInAttempt:
    return SignInAttempt(Credential("collector:web-1", key), bytes(range(32)), 8787)


def response(first: bytes, second: bytes, by: By = "backend", port: int = 8787) -> ProofResponse:
    exchange = Exchange("collector:web-1", bytes(range(32)).hex(), "cd" * 40, port)
    proofs = [exchange.proof(key, by) for key in (first, second)]
    return ProofResponse(nonce=exchange.backend_nonce, proofs=proofs)


@pytest.mark.parametrize("keys", [(KEY, bytes(32)), (bytes(32), KEY)])
def test_a_client_believes_either_of_two_keys_and_answers(keys: tuple[bytes, bytes]) -> None:
    trying = attempt()
    proof = trying.answer(response(*keys))
    exchange = exchange_of(proof)
    assert exchange.client_nonce == trying.request.nonce
    assert exchange.is_proof(KEY, "client", proof.proof)
    trying.check_accepted(exchange.proof(KEY, "accepted"))
    for wrong in (exchange.proof(bytes(32), "accepted"), exchange.proof(KEY, "backend"), ""):
        with pytest.raises(ImpostorError):
            trying.check_accepted(wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        response(bytes(32), bytes(32)),
        response(KEY, KEY, by="client"),
        response(KEY, KEY, by="accepted"),
        response(KEY, KEY, port=8788),
    ],
)
def test_a_client_answers_nobody_else(wrong: ProofResponse) -> None:
    trying = attempt()
    with pytest.raises(ImpostorError):
        trying.answer(wrong)
    with pytest.raises(ImpostorError):
        trying.check_accepted(EXCHANGE.proof(KEY, "accepted"))


def test_the_secret_of_a_host_names_it_and_is_its_key() -> None:
    secret = host_secret("web-1.example", KEY)
    assert host_credential(secret) == Credential("collector:web-1.example", KEY)
    assert KEY.hex() not in repr(host_credential(secret))


@pytest.mark.parametrize(
    "chosen",
    [
        "a secret that a person chose",
        f"tidscope.Web.{KEY.hex()}",
        f"tidscope..{KEY.hex()}",
        f"tidscope.web.{KEY.hex()[1:]}",
        host_secret("web", KEY) + "\n",
    ],
)
def test_another_secret_is_of_the_default_host_and_stretched(chosen: str) -> None:
    expected = Credential("collector:default", stretch("collector:default", chosen))
    assert host_credential(chosen) == expected


def test_a_proof_in_a_header() -> None:
    proof = attempt().answer(response(KEY, KEY))
    header = authorization(proof)
    assert read_authorization(header) == proof
    assert read_authorization(header.replace("Tidscope", "tidscope")) == proof


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer x",
        "Tidscope-Proof",
        "Tidscope-Proof é",
        "Tidscope-Proof e30=",
        "Tidscope-Proof {}",
    ],
)
def test_no_proof_in_a_header(header: str) -> None:
    assert read_authorization(header) is None
