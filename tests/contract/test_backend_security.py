"""Sessions, hosts, origins, headers, and the page's own files."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from backend_server import TOKEN, Backend, running_backend

WAIT = 20
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


def kind(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"].rpartition(":")[2]


async def test_the_printed_address_gives_a_session_and_hides_the_token(backend: Backend) -> None:
    async with backend.client() as client:
        answer = await client.get(f"/?token={TOKEN}&pid=12&q=a+b")
        assert answer.status_code == 303
        assert answer.headers["location"] == "/?pid=12&q=a+b"
        cookie = answer.headers["set-cookie"]
        assert TOKEN not in cookie
        for attribute in ("tidscope_session=", "HttpOnly", "SameSite=Strict", "Path=/"):
            assert attribute in cookie
        assert "Secure" not in cookie
        assert (await client.get("/api/v1/health")).status_code == 200


async def test_a_session_outlives_the_backend(backend: Backend, tmp_path: Path) -> None:
    async with backend.client() as client:
        cookie = (await client.get(f"/?token={TOKEN}")).headers["set-cookie"].partition(";")[0]
    for token, status in ((TOKEN, 200), ("another-token", 401)):
        async with (
            running_backend(web_dir=tmp_path, token=token) as restarted,
            restarted.client(cookie=cookie) as client,
        ):
            assert (await client.get("/api/v1/health")).status_code == status


@pytest.mark.parametrize(
    "cookie", ["tidscope_session=", "tidscope_session=00", "other=1", "tidscope_session=é", ";=;"]
)
async def test_a_wrong_cookie_is_no_session(backend: Backend, cookie: str) -> None:
    async with backend.client() as client:
        answer = await client.get("/api/v1/health", headers=[(b"cookie", cookie.encode("latin-1"))])
        assert kind(answer) == (401, "unauthenticated")


async def test_a_redirect_stays_on_this_site(backend: Backend) -> None:
    async with backend.client() as client:
        for path in ("//evil.example/x", "/\\evil.example/x"):
            answer = await client.send(
                client.build_request("GET", httpx.URL(backend.url + path + f"?token={TOKEN}"))
            )
            assert answer.status_code == 303
            # A browser takes "//name" and "/\\name" for another site.
            assert answer.headers["location"] in ("/evil.example/x", "/%5Cevil.example/x")


async def test_an_old_address_leads_a_person_to_the_page(backend: Backend) -> None:
    async with backend.client() as client:
        answer = await client.get("/?token=an-old-one&pid=3", headers=HTML)
        assert (answer.status_code, answer.headers["location"]) == (303, "/?pid=3")
        assert "set-cookie" not in answer.headers
        assert kind(await client.get("/?token=an-old-one")) == (401, "unauthenticated")


async def test_signing_in_and_out(backend: Backend) -> None:
    async with backend.client(origin=backend.url) as client:
        answer = await client.post("/api/v1/session", json={"token": "wrong-token"})
        assert kind(answer) == (401, "unauthenticated")
        assert "wrong-token" not in answer.text
        assert (await client.post("/api/v1/session", json={"token": TOKEN})).status_code == 204
        assert (await client.get("/api/v1/health")).status_code == 200
        assert (await client.delete("/api/v1/session")).status_code == 204
        assert (await client.get("/api/v1/health")).status_code == 401


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
        assert (await person.post("/api/v1/session", json={"token": TOKEN})).status_code == 204
        assert (await person.get(f"/?token={TOKEN}")).status_code == 303
    # Who has one token does not get more guesses at the other by it.
    async with backend.client(origin=backend.url) as guesser:
        assert await guess(guesser, 1) == [429]


async def test_wrong_tokens_that_another_site_sends_do_not_count(backend: Backend) -> None:
    async with backend.client() as browser:
        for _ in range(12):
            answer = await browser.get("/?token=guess", headers={"sec-fetch-site": "cross-site"})
            assert kind(answer) == (401, "unauthenticated")
        assert kind(await browser.get("/?token=guess")) == (401, "unauthenticated")


async def test_forwarded_headers_are_ignored(backend: Backend) -> None:
    async with backend.client(origin=backend.url) as guesser:
        for number in range(10):
            assert await guess(guesser, 1, **{"x-forwarded-for": f"192.0.2.{number}"}) == [401]
        assert await guess(guesser, 1, **{"x-forwarded-for": "192.0.2.99"}) == [429]
        forwarded = {"x-forwarded-proto": "https", "x-forwarded-host": "evil.example"}
        answer = await guesser.post("/api/v1/session", json={"token": TOKEN}, headers=forwarded)
        assert answer.status_code == 204
        assert "Secure" not in answer.headers["set-cookie"]


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
            (backend.url, f"127.0.0.1:{backend.port}", 204),
            ("http://localhost:5555", "localhost:5555", 204),
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
