"""tools/audit.py: the real pip-audit and npm against advisory services of the test."""

import gzip
import json
import shutil
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote

import pytest
from tool_scripts import load_tool

ROOT = Path(__file__).resolve().parents[2]
HASH = "0" * 64


audit = load_tool("audit")

OSV = {
    "vulns": [
        {
            "id": "GHSA-made-up",
            "modified": "2026-01-01T00:00:00Z",
            "summary": "made for a test",
            "affected": [
                {
                    "package": {"name": "jinja2", "ecosystem": "PyPI"},
                    "ranges": [
                        {
                            "type": "ECOSYSTEM",
                            "events": [{"introduced": "0"}, {"fixed": "3.1.6"}],
                        }
                    ],
                }
            ],
        }
    ]
}
NPM = {
    "react": [
        {
            "id": 1,
            "url": "https://example.invalid/1",
            "title": "made for a test",
            "severity": "high",
            "vulnerable_versions": "<99",
        }
    ]
}

CRATE = {"vulns": [{"id": "RUSTSEC-made-up"}]}


class Advisories(BaseHTTPRequestHandler):
    """Answers as OSV and as an npm registry, with one advisory each."""

    def do_POST(self) -> None:
        """Answer a query."""
        sent = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            sent = gzip.decompress(sent)
        asked = json.loads(sent)
        if self.path.endswith("/bulk"):
            answer: dict[str, Any] = {name: NPM[name] for name in asked if name in NPM}
        else:
            name = asked["package"]["name"]
            answer = OSV if name == "jinja2" else CRATE if name == "bytes" else {}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        """Answer with a package that has no other versions."""
        body = json.dumps({"name": unquote(self.path[1:]), "versions": {}}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def advisories() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Advisories)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Lock files with one vulnerable package and one that is not."""
    for lock in audit.LOCKS:
        (tmp_path / lock).write_text("")
    (tmp_path / "requirements.lock").write_text(
        f"jinja2==2.0 \\\n    --hash=sha256:{HASH}\nidna==3.20 \\\n    --hash=sha256:{HASH}\n"
    )
    for name in ("package.json", "package-lock.json"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "sampler").mkdir()
    shutil.copy(ROOT / "sampler" / "Cargo.lock", tmp_path / "sampler")
    return tmp_path


def test_vulnerable_packages_are_found(checkout: Path, advisories: str) -> None:
    findings = audit.audit(checkout, f"{advisories}/query", advisories)
    python, npm, sampler = findings[0], findings[-2], findings[-1]
    assert (python.audited, python.unaudited) == (2, 0)
    assert python.vulnerable == ("jinja2 2.0: GHSA-made-up, fixed in 3.1.6",)
    assert npm.audited > 100 and npm.unaudited == 0
    assert [line for line in npm.vulnerable if line.startswith("react ")], npm.vulnerable
    (line,) = sampler.vulnerable
    assert line.startswith("bytes ") and line.endswith(": RUSTSEC-made-up")
    assert sampler.audited > 20 and sampler.unaudited == 0


def test_a_registry_that_does_not_answer_is_named(checkout: Path) -> None:
    nobody = "http://127.0.0.1:9"
    findings = audit.audit(checkout, f"{nobody}/query", nobody)
    python, npm, sampler = findings[0], findings[-2], findings[-1]
    assert (python.audited, python.unaudited, python.vulnerable) == (0, 2, ())
    assert (npm.audited, npm.vulnerable) == (0, ())
    assert npm.unaudited > 100 and "127.0.0.1:9" in npm.reason
    assert (sampler.audited, sampler.vulnerable) == (0, ())
    assert sampler.unaudited > 20 and "127.0.0.1:9" in sampler.reason
    assert "not: " in npm.lines()[0]
