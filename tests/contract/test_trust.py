"""Proofs over HTTP, and that no host speaks for another one."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from backend_builders import TARGET_ID, frame_bytes, host, key_frame, stream, target
from backend_server import SECRET, TOKEN, Backend, running_backend
from fake_collector import FakeCollector
from tidscope_backend import host_registry
from tidscope_backend.ingest import announced
from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.generated.models import (
    ClientProof,
    DetachCommand,
    FramesLost,
    LiveState,
    ProofResponse,
    SessionOpened,
    TargetChanged,
    TargetForgotten,
    TargetReply,
)
from tidscope_wire.proof import (
    PROOF_SCHEME,
    Credential,
    ImpostorError,
    SignInAttempt,
    host_secret,
    stretch,
)
from websockets.exceptions import ConnectionClosed

WAIT = 200
A, B = host("h-aaaaaaaaaaaa", "a"), host("h-bbbbbbbbbbbb", "b")
THEIRS = "t-7-00000000"


@pytest.fixture
async def backend(tmp_path: Path) -> AsyncIterator[Backend]:
    async with asyncio.timeout(WAIT), running_backend(state_dir=tmp_path / "state") as running:
        yield running


async def closed(collector: FakeCollector, *, frames: bool = False) -> tuple[int, str]:
    """Why the backend has closed the control connection, or the data connection."""
    with pytest.raises(ConnectionClosed) as ended:
        while True:
            await (collector.frames if frames else collector.socket).recv()
    assert ended.value.rcvd is not None
    return ended.value.rcvd.code, ended.value.rcvd.reason


async def prove(backend: Backend, subject: str, token: str) -> ClientProof:
    """Proof that a client sends once the backend has proven itself."""
    attempt = SignInAttempt(Credential(subject, stretch(subject, token)), b"n" * 32, backend.port)
    async with backend.client(authorization=PROOF_SCHEME) as client:
        answer = await client.post("/api/v1/proof", json=attempt.request.model_dump())
    return attempt.answer(ProofResponse.model_validate_json(answer.raise_for_status().content))


async def open_session(backend: Backend, proof: ClientProof) -> tuple[int, bytes]:
    async with backend.client(authorization=PROOF_SCHEME) as client:
        answer = await client.post("/api/v1/proof/session", json=proof.model_dump())
    return answer.status_code, answer.content


@pytest.mark.parametrize("role", ["operator", "viewer"])
async def test_a_proof_is_traded_for_a_session(backend: Backend, role: str) -> None:
    token = TOKEN if role == "operator" else backend.settings.view_token
    code, content = await open_session(backend, await prove(backend, role, token))
    assert code == 201
    opened = SessionOpened.model_validate_json(content)
    assert opened.role == role
    async with backend.client(authorization=f"Bearer {opened.credential}") as client:
        assert (await client.get("/api/v1/health")).status_code == 200
        assert (await client.delete("/api/v1/demo")).status_code == (
            204 if role == "operator" else 403
        )


async def test_a_replayed_proof_is_refused(backend: Backend) -> None:
    proof = await prove(backend, "operator", TOKEN)
    assert (await open_session(backend, proof))[0] == 201
    code, content = await open_session(backend, proof)
    assert code == 401
    assert b"used before" in content


async def test_a_replayed_upgrade_is_refused(backend: Backend) -> None:
    async with backend.collector() as collector:
        await collector.greeted()
        assert collector.socket.request is not None
        shown = collector.socket.request.headers["Authorization"]
        assert SECRET not in shown
        async with backend.collector(authorization=shown, silent=True) as again:
            code, reason = await closed(again)
            assert (code, "used before" in reason) == (CloseCode.UNAUTHENTICATED, True)


async def test_a_collectors_secret_opens_no_session_and_a_token_connects_no_collector(
    backend: Backend,
) -> None:
    attempt_key = bytes.fromhex(SECRET.rpartition(".")[2])
    attempt = SignInAttempt(Credential("collector:default", attempt_key), b"n" * 32, backend.port)
    async with backend.client(authorization=PROOF_SCHEME) as client:
        answer = await client.post("/api/v1/proof", json=attempt.request.model_dump())
    proof = attempt.answer(ProofResponse.model_validate_json(answer.content))
    assert (await open_session(backend, proof))[0] == 401


async def test_wrong_proofs_are_counted_and_a_right_one_is_never_refused(backend: Backend) -> None:
    right = await prove(backend, "operator", TOKEN)
    wrong = right.model_copy(update={"proof": "0" * 64})
    codes = [(await open_session(backend, wrong))[0] for _ in range(11)]
    assert codes == [401] * 10 + [429]
    # Wrong proofs of collectors and wrong tokens count as well.
    async with backend.client(origin=backend.url) as client:
        answer = await client.post("/api/v1/session", json={"token": "guess"})
    assert answer.status_code == 429
    assert (await open_session(backend, right))[0] == 201


async def test_from_outside_an_unknown_subject_is_a_wrong_secret(backend: Backend) -> None:
    backend.add_host("web")
    answers = []
    for subject in ("collector:web", "collector:nobody"):
        nonce = "ab" * 32
        request = {"subject": subject, "nonce": nonce, "port": backend.port}
        async with backend.client(authorization=PROOF_SCHEME) as client:
            answer = await client.post("/api/v1/proof", json=request)
            response = ProofResponse.model_validate_json(answer.content)
            guess = ClientProof(
                subject=subject,
                client_nonce=nonce,
                backend_nonce=response.nonce,
                port=backend.port,
                proof="0" * 64,
            )
            refused = await client.post("/api/v1/proof/session", json=guess.model_dump())
        kinds = sorted(answer.json())
        answers.append((answer.status_code, kinds, refused.status_code, refused.json()))
        with pytest.raises(ImpostorError):
            async with backend.collector(secret=host_secret(subject.partition(":")[2], b"g" * 32)):
                pass
    assert answers[0] == answers[1]


async def test_a_cross_site_page_gets_no_proof(backend: Backend) -> None:
    request = {"subject": "operator", "nonce": "ab" * 32, "port": backend.port}
    async with backend.client(origin="http://evil.example") as client:
        for path in ("/api/v1/proof", "/api/v1/proof/session"):
            assert (await client.post(path, json=request)).status_code == 403


async def test_a_hosts_secret_does_not_say_hello_as_another_host(backend: Backend) -> None:
    of_a, of_b = backend.add_host("a"), backend.add_host("b")
    async with backend.collector(secret=of_b, host=B) as b:
        await b.greeted()
    async with backend.collector(secret=of_a, host=B) as false_b:
        assert await closed(false_b) == (
            CloseCode.WRONG_HOST,
            f"host {B.id} has the secret of collector:b, not of collector:a",
        )
    async with backend.collector(host=B) as false_b:
        assert (await closed(false_b))[0] == CloseCode.WRONG_HOST


async def test_a_host_is_replaced_with_its_own_secret_only(backend: Backend) -> None:
    of_a, of_b = backend.add_host("a"), backend.add_host("b")
    async with (
        backend.collector(secret=of_b, host=B, targets=[target(THEIRS, host_id=B.id)]) as b,
        backend.page() as page,
    ):
        await b.greeted()
        await page.subscribe(THEIRS)
        async with backend.collector(secret=of_a, host=B) as false_b:
            assert (await closed(false_b))[0] == CloseCode.WRONG_HOST
        # The connection that was there has not noticed.
        await b.send(key_frame(1, target_id=THEIRS))
        assert (await page.frame())[0].target == THEIRS
        async with backend.collector(secret=of_b, host=B) as new_b:
            await new_b.greeted()
            assert (await closed(b))[0] == CloseCode.REPLACED


async def test_one_secret_is_of_one_host_at_a_time(backend: Backend) -> None:
    async with backend.collector() as first:
        await first.greeted()
        async with backend.collector(host=B) as second:
            code, reason = await closed(second)
            assert code == CloseCode.WRONG_HOST
            assert "collector:default" in reason
    # A reboot gives a machine another id.
    async with backend.collector(host=B) as second:
        await second.greeted()


MESSAGES: dict[str, bytes | FramesLost | TargetForgotten | TargetChanged | TargetReply] = {
    "a frame": frame_bytes(2, target_id=THEIRS),
    "losses": FramesLost(target=THEIRS, from_seq=1, to_seq=5, reason="x"),
    "forgotten": TargetForgotten(target=THEIRS),
    "a change": TargetChanged(target=target(THEIRS, host_id=B.id)),
    "a change as its own": TargetChanged(target=target(THEIRS, host_id=A.id)),
    "a reply": TargetReply(request_id=1, target=target(THEIRS, host_id=B.id), created=False),
    "a reply as its own": TargetReply(
        request_id=1, target=target(THEIRS, host_id=A.id), created=False
    ),
}


@pytest.mark.parametrize("what", MESSAGES)
async def test_a_collector_says_nothing_of_anothers_target(
    backend: Backend, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(announced, "ANNOUNCE_SECONDS", 0.1)
    message = MESSAGES[what]
    async with (
        backend.collector(secret=backend.add_host("a"), host=A) as a,
        backend.collector(
            secret=backend.add_host("b"), host=B, targets=[target(THEIRS, host_id=B.id)]
        ) as b,
        backend.page() as page,
    ):
        await a.greeted()
        await b.greeted()
        await page.subscribe(THEIRS)
        await b.send(key_frame(1, target_id=THEIRS))
        assert (await page.frame())[0].seq == 1
        if isinstance(message, bytes):
            await a.send(message)
        else:
            await a.say(message)
        is_data = isinstance(message, bytes | FramesLost | TargetForgotten)
        code, reason = await closed(a, frames=is_data)
        assert (code, THEIRS in reason) == (CloseCode.BAD_MESSAGE, True)
        # Host B's stream continues where it was.
        await b.send(*stream(2, 3, target_id=THEIRS))
        assert [(await page.frame())[0].seq for _ in range(2)] == [2, 3]
        async with backend.program() as client:
            found = (await client.get(f"/api/v1/targets/{THEIRS}")).json()
        assert found["host"] == B.id


@pytest.mark.parametrize(
    "message",
    [
        key_frame(1),
        FramesLost(target=TARGET_ID, from_seq=1, to_seq=5, reason="x"),
        TargetForgotten(target=TARGET_ID),
    ],
    ids=["a frame", "losses", "forgotten"],
)
async def test_a_target_that_nobody_announced_is_claimed_by_nothing_said_of_it(
    backend: Backend,
    message: bytes | FramesLost | TargetForgotten,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else host A could begin the numbers of host B's next target before host B announces it."""
    monkeypatch.setattr(announced, "ANNOUNCE_SECONDS", 0.1)
    async with backend.collector(secret=backend.add_host("a"), host=A) as a:
        await a.greeted()
        await (a.send(message) if isinstance(message, bytes) else a.say(message))
        code, reason = await closed(a, frames=True)
        assert (code, "was not announced" in reason) == (CloseCode.BAD_MESSAGE, True)
    theirs = target(host_id=B.id)
    async with (
        backend.collector(secret=backend.add_host("b"), host=B, targets=[theirs]) as b,
        backend.page() as page,
    ):
        await b.greeted()
        assert b.welcome is not None
        assert b.welcome.resume == {}
        await page.subscribe(TARGET_ID)
        await b.send(*stream(1, 2))
        assert [(await page.frame())[0].seq for _ in range(2)] == [1, 2]


async def test_a_hello_does_not_take_anothers_target_over(backend: Backend) -> None:
    of_a, of_b = backend.add_host("a"), backend.add_host("b")
    async with backend.collector(secret=of_b, host=B, targets=[target(THEIRS, host_id=B.id)]) as b:
        await b.greeted()
        for host_id in (A.id, B.id):
            claimed = [target(THEIRS, host_id=host_id)]
            async with backend.collector(secret=of_a, host=A, targets=claimed) as a:
                code, reason = await closed(a)
                assert (code, THEIRS in reason) == (CloseCode.BAD_MESSAGE, True)


async def test_a_reply_answers_only_what_its_own_host_was_asked(backend: Backend) -> None:
    of_a, of_b = backend.add_host("a"), backend.add_host("b")
    async with (
        backend.collector(secret=of_a, host=A, targets=[target("t-1-00000000", host_id=A.id)]) as a,
        backend.collector(secret=of_b, host=B, targets=[target(THEIRS, host_id=B.id)]) as b,
        backend.program() as client,
    ):
        await a.greeted()
        await b.greeted()
        detaching = asyncio.create_task(client.delete(f"/api/v1/targets/{THEIRS}"))
        command = await b.command(DetachCommand)
        mine = target("t-1-00000000", host_id=A.id, state="detached")
        await a.say(TargetReply(request_id=command.request_id, target=mine, created=False))
        async with backend.page() as page:
            while (await page.text(LiveState)).targets[0].state != "detached":
                pass
        assert not detaching.done()
        theirs = target(THEIRS, host_id=B.id, state="detached")
        await b.say(TargetReply(request_id=command.request_id, target=theirs, created=False))
        assert (await detaching).status_code == 204


async def test_what_a_collector_announces_is_bounded(backend: Backend) -> None:
    async with backend.collector() as collector:
        await collector.greeted()
        for number in range(257):
            await collector.say(TargetChanged(target=target(f"t-{number}-00000000")))
        assert (await closed(collector))[0] == CloseCode.TOO_MANY


async def test_host_ids_that_a_secret_goes_through_are_bounded(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_registry, "MAX_HOSTS", 3)
    async with backend.program() as client, backend.collector(secret=backend.add_host("b"), host=B):
        for number in range(6):
            one = host(f"h-{number:012x}")
            mine = target(f"t-{number}-00000000", host_id=one.id)
            async with backend.collector(host=one, targets=[mine]) as collector:
                await collector.greeted()
            while [
                each for each in await hosts(client) if each["id"] == one.id and each["connected"]
            ]:
                pass
        # Connected collectors stay, whatever other peers do.
        assert B.id in [each["id"] for each in await hosts(client)]
        assert len(await hosts(client)) == 3
        assert len((await client.get("/api/v1/targets")).json()["targets"]) == 2


async def hosts(client: httpx.AsyncClient) -> list[dict[str, object]]:
    """Hosts that the backend lists."""
    found: list[dict[str, object]] = (await client.get("/api/v1/hosts")).json()["hosts"]
    return found


async def test_a_forgotten_target_that_never_ended_does_not_stay(tmp_path: Path) -> None:
    """A collector that announces and forgets without end does not fill the list of targets."""
    async with (
        asyncio.timeout(WAIT),
        running_backend(ended_targets=3) as backend,
        backend.collector() as collector,
        backend.program() as client,
    ):
        await collector.greeted()
        for number in range(10):
            name = f"t-{number}-00000000"
            await collector.say(TargetChanged(target=target(name, attached_unix_us=number)))
            await collector.send(key_frame(1, target_id=name))
            await collector.say(TargetForgotten(target=name))
        last = target("t-99-00000000")
        await collector.say(TargetChanged(target=last))
        found: list[dict[str, str]] = []
        while last.id not in [one["id"] for one in found] or len(found) != 4:
            found = (await client.get("/api/v1/targets")).json()["targets"]


async def test_revoking_a_secret_ends_its_connection_and_no_other(backend: Backend) -> None:
    of_a, of_b = backend.add_host("a"), backend.add_host("b")
    async with (
        backend.collector(secret=of_a, host=A) as a,
        backend.collector(secret=of_b, host=B, targets=[target(THEIRS, host_id=B.id)]) as b,
        backend.page() as page,
    ):
        await a.greeted()
        await b.greeted()
        backend.hosts.revoke("a")
        assert await closed(a) == (
            CloseCode.UNAUTHENTICATED,
            "the secret of collector:a is not valid any more",
        )
        with pytest.raises(ImpostorError):
            await backend.collector(secret=of_a, host=A).__aenter__()
        await page.subscribe(THEIRS)
        await b.send(key_frame(1, target_id=THEIRS))
        await page.frame()


async def test_rotation_keeps_the_old_secret_for_its_grace(backend: Backend) -> None:
    old = backend.add_host("a")
    async with backend.collector(secret=old, host=A) as connected:
        await connected.greeted()
        new = host_secret("a", backend.hosts.rotate("a", time.time(), 3600))
        for secret in (new, old):
            async with backend.collector(secret=secret, host=A) as collector:
                await collector.greeted()
                # The one that was there gave way to it, and was not thrown out.
        assert (await closed(connected))[0] == CloseCode.REPLACED
    async with backend.collector(secret=old, host=A) as collector:
        await collector.greeted()
        newest = host_secret("a", backend.hosts.rotate("a", time.time(), 0))
        assert (await closed(collector))[0] == CloseCode.UNAUTHENTICATED
    for secret in (old, new):
        with pytest.raises(ImpostorError):
            await backend.collector(secret=secret, host=A).__aenter__()
    async with backend.collector(secret=newest, host=A) as collector:
        await collector.greeted()
