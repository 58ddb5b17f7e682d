"""Sessions, hosts, origins, headers, and the page's own files."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from backend_server import TOKEN, Backend, kind, running_backend
from tidscope_wire.generated.models import SessionOpened

WAIT = 200
HTML = {"accept": "text/html"}


@pytest.fixture
async def backend(tmp_path: Path) -> AsyncIterator[Backend]:
    web = tmp_path / "web"
    (web / "assets").mkdir(parents=True)
    (web / "index.html").write_text("<p>the page</p>")
    (web / "assets" / "app-1234.js").write_text("1")
    (web / "icon.svg").write_text("<svg/>")
    (tmp_path / "private.txt").write_text("private")
    async with asyncio.timeout(WAIT), running_backend(web_dir=web) as running:
        yield running


async def test_a_token_in_a_query_is_not_accepted(backend: Backend) -> None:
    async with backend.client() as client:
        page = await client.get(f"/?token={TOKEN}&pid=12", headers=HTML)
        assert (page.status_code, page.text) == (200, "<p>the page</p>")
        assert "set-cookie" not in page.headers
        for name in ("token", "ticket", "access_token"):
            answer = await client.get(f"/api/v1/health?{name}={TOKEN}")
            assert kind(answer) == (401, "unauthenticated")


async def test_cookies_are_neither_set_nor_read(backend: Backend) -> None:
    session = await backend.sign_in()
    async with backend.client() as client:
        for cookie in (f"tidscope_session={session.credential}", "tidscope_session=é", ";=;", "{}"):
            sent = [(b"cookie", cookie.encode("latin-1"))]
            answer = await client.get("/api/v1/health", headers=sent)
            assert kind(answer) == (401, "unauthenticated")
    async with backend.person(session) as person:
        for cookie in ("tidscope_session=00", "tidscope_session=é", ";=;", "a=b=c; {}"):
            sent = [(b"cookie", cookie.encode("latin-1"))]
            answer = await person.get("/api/v1/health", headers=sent)
            assert answer.status_code == 200
            assert "set-cookie" not in answer.headers


async def test_signing_in_and_out(backend: Backend) -> None:
    async with backend.client(origin=backend.url) as client:
        answer = await client.post("/api/v1/session", json={"token": "wrong-token"})
        assert kind(answer) == (401, "unauthenticated")
        assert "wrong-token" not in answer.text
        answer = await client.post("/api/v1/session", json={"token": TOKEN})
        assert answer.status_code == 201
        assert TOKEN not in answer.text
        assert "set-cookie" not in answer.headers
        assert answer.headers["cache-control"] == "no-store"
        session = SessionOpened.model_validate_json(answer.content)
    async with backend.person(session) as person:
        answer = await person.get("/api/v1/session")
        assert answer.json() == {"role": "operator", "id": session.id}
        assert (await person.delete("/api/v1/session")).status_code == 204
        for path in ("/api/v1/session", "/api/v1/health"):
            assert kind(await person.get(path)) == (401, "unauthenticated")


async def test_a_refused_token_is_not_repeated(backend: Backend) -> None:
    async with backend.client(origin=backend.url) as client:
        answer = await client.post("/api/v1/session", json={"token": "s3cret" * 100})
        assert kind(answer) == (422, "bad-request")
        assert "s3cret" not in answer.text


async def guess(client: httpx.AsyncClient, times: int, **headers: str) -> list[int]:
    """Statuses of wrong tokens."""
    return [
        (await client.post("/api/v1/session", json={"token": "guess"}, headers=headers)).status_code
        for _ in range(times)
    ]


async def test_many_wrong_tokens_have_to_wait_and_a_right_one_never(backend: Backend) -> None:
    async with backend.client(origin=backend.url) as guesser:
        assert await guess(guesser, 10) == [401] * 10
        answer = await guesser.post("/api/v1/session", json={"token": "guess"})
        assert kind(answer) == (429, "too-many-attempts")
        assert 0 < int(answer.headers["retry-after"]) <= 30
    async with backend.program() as program:
        assert (await program.get("/api/v1/health")).status_code == 200
    async with backend.client(origin=backend.url) as person:
        assert (await person.post("/api/v1/session", json={"token": TOKEN})).status_code == 201
    # Knowing one token gives no further guesses at the other.
    async with backend.client(origin=backend.url) as guesser:
        assert await guess(guesser, 1) == [429]


async def test_wrong_tokens_that_another_site_sends_do_not_count(backend: Backend) -> None:
    async with backend.client() as browser:
        for _ in range(12):
            sent = {"authorization": "Bearer guess", "sec-fetch-site": "cross-site"}
            answer = await browser.get("/api/v1/health", headers=sent)
            assert kind(answer) == (401, "unauthenticated")
        sent = {"authorization": "Bearer guess"}
        answer = await browser.get("/api/v1/health", headers=sent)
        assert kind(answer) == (401, "unauthenticated")


async def test_forwarded_headers_are_ignored(backend: Backend) -> None:
    async with backend.client(origin=backend.url) as guesser:
        for number in range(10):
            assert await guess(guesser, 1, **{"x-forwarded-for": f"192.0.2.{number}"}) == [401]
        assert await guess(guesser, 1, **{"x-forwarded-for": "192.0.2.99"}) == [429]
        forwarded = {"x-forwarded-proto": "https", "x-forwarded-host": "evil.example"}
        answer = await guesser.post("/api/v1/session", json={"token": TOKEN}, headers=forwarded)
        assert answer.status_code == 201


async def test_forwarded_headers_of_a_trusted_proxy_are_believed() -> None:
    async with (
        asyncio.timeout(WAIT),
        running_backend(trusted_proxies=("127.0.0.1/32", "10.0.0.0/8")) as backend,
        backend.client(origin=backend.url) as proxy,
    ):
        # Proxies append to what they get: only the last address that is not theirs is the client.
        forged = "203.0.113.7, 192.0.2.1, 10.1.2.3"
        assert await guess(proxy, 10, **{"x-forwarded-for": forged}) == [401] * 10
        assert await guess(proxy, 1, **{"x-forwarded-for": "198.51.100.1, 192.0.2.1"}) == [429]
        assert await guess(proxy, 1, **{"x-forwarded-for": "203.0.113.7"}) == [401]
        assert await guess(proxy, 1, **{"x-forwarded-for": "192.0.2.1, anything"}) == [401]
        host = f"127.0.0.1:{backend.port}"
        for proto, status in (("https", 201), ("http", 403), ("gopher", 403)):
            answer = await proxy.post(
                "/api/v1/session",
                json={"token": TOKEN},
                headers={
                    "x-forwarded-proto": proto,
                    "x-forwarded-for": "198.51.100.9",
                    "origin": f"https://{host}",
                },
            )
            assert answer.status_code == status
        async with backend.program() as program:
            (row,) = (await program.get("/api/v1/sessions")).json()["sessions"]
            assert row["address"] == "198.51.100.9"


async def test_a_peer_that_is_not_the_trusted_proxy_is_not_believed() -> None:
    async with (
        asyncio.timeout(WAIT),
        running_backend(trusted_proxies=("10.0.0.0/8",)) as backend,
        backend.client(origin=backend.url) as guesser,
    ):
        for number in range(10):
            assert await guess(guesser, 1, **{"x-forwarded-for": f"192.0.2.{number}"}) == [401]
        assert await guess(guesser, 1, **{"x-forwarded-for": "192.0.2.99"}) == [429]


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST:1", "[::1]:99"])
async def test_our_names(backend: Backend, name: str) -> None:
    async with backend.program() as client:
        assert (await client.get("/api/v1/health", headers={"host": name})).status_code == 200


@pytest.mark.parametrize("name", ["evil.example", "127.0.0.1.evil.example", "10.0.0.1", "", "a@b"])
async def test_other_names_are_refused_even_for_the_page(backend: Backend, name: str) -> None:
    async with backend.program() as client:
        for path in ("/", "/api/v1/health"):
            answer = await client.get(path, headers={"host": name})
            assert kind(answer) == (403, "forbidden-host")


async def test_an_origin_is_that_of_the_page_served_here(backend: Backend) -> None:
    body = {"token": TOKEN}
    async with backend.client() as client:
        for origin, host, status in (
            (backend.url, f"127.0.0.1:{backend.port}", 201),
            ("http://localhost:5555", "localhost:5555", 201),
            ("http://localhost:5555", f"127.0.0.1:{backend.port}", 403),
            ("https://localhost:5555", "localhost:5555", 403),
        ):
            answer = await client.post(
                "/api/v1/session", json=body, headers={"origin": origin, "host": host}
            )
            assert answer.status_code == status


async def test_no_other_site_may_read(backend: Backend) -> None:
    async with backend.program() as client:
        answer = await client.options(
            "/api/v1/health",
            headers={"origin": "http://evil.example", "access-control-request-method": "GET"},
        )
        assert answer.status_code == 405
        assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("path", ["/", "/api/v1/health", "/api/v1/nothing", "/assets/app-1234.js"])
async def test_every_answer_carries_the_headers(backend: Backend, path: str) -> None:
    async with backend.program() as client:
        headers = (await client.get(path)).headers
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "script-src 'self';" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "server" not in headers


@pytest.mark.parametrize(
    ("path", "content", "cache"),
    [
        ("/", "the page", "no-cache"),
        ("/doctor", "the page", "no-cache"),
        ("/runs/some/where", "the page", "no-cache"),
        ("/index.html", "the page", "no-cache"),
        ("/icon.svg", "<svg/>", "no-cache"),
        ("/assets/app-1234.js", "1", "public, max-age=31536000, immutable"),
    ],
)
async def test_the_page_needs_no_session(
    backend: Backend, path: str, content: str, cache: str
) -> None:
    async with backend.client() as client:
        answer = await client.get(path)
        assert answer.status_code == 200
        assert content in answer.text
        assert answer.headers["cache-control"] == cache
        assert (await client.head(path)).status_code == 200


@pytest.mark.parametrize(
    "path",
    ["/assets/gone.js", "/../private.txt", "/%2e%2e/private.txt", "/..%2fprivate.txt", "/a%00.js"],
)
async def test_nothing_but_the_pages_files(backend: Backend, path: str) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", backend.port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    assert answer.startswith(b"HTTP/1.1 404 ")
    assert b"private" not in answer.partition(b"\r\n\r\n")[2].replace(b"private.txt", b"")


async def test_a_page_that_is_not_built_says_what_to_do(tmp_path: Path) -> None:
    async with running_backend(web_dir=tmp_path / "none") as backend, backend.client() as client:
        answer = await client.get("/")
        assert answer.status_code == 503
        assert "make build" in answer.text
