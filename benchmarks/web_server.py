"""Debian's nginx with Debian's configuration, and wrk that asks it for files, each on its own core.

`visitors` load the median page of the desktop web: 18 KB of HTML, 24 scripts of 613 KB together, 18
images of 1,054 KB, 78 KB of style sheets and 131 KB of fonts (HTTP Archive, Web Almanac 2024,
chapter Page Weight; into how many files the last two are split, 8 and 4, is assumed here). They do
so as browsers do: over TLS, compressed where the server offers it (Debian's configuration: HTML
only), and with six connections for a page, so that one request of nine is the last one of its
connection. The certificate is of certbot's default kind, ECDSA over P-256.

`files`: the same files without TLS, over connections that stay. `small`: a file as small as nginx'
page of welcome, again and again, over connections that stay: the hardest case, hardly more than the
socket calls themselves.
"""

import http.client
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DEBIAN = ROOT / ".cache" / "benchmarks"
PACKAGES = ("nginx", "nginx-common", "wrk", "libluajit-5.1-2")
HTML_BYTES = 48_000
"""18 KB when compressed."""
ASSETS = {"script": (24, 613), "image": (18, 1054), "style": (8, 78), "font": (4, 131)}
"""Files, and kilobytes of all of them."""
CLIENTS = ("visitors", "files", "small")
_SMALL_BYTES = 615
_REQUESTS_A_CONNECTION = 9
_CONNECTIONS = 32
_NICE = -10
"""Nice value of server and clients, so that other programs disturb them less."""
_RULE = """
server {
  listen 127.0.0.1:%d;
  listen 127.0.0.1:%d ssl;
  ssl_certificate %s/certificate.pem;
  ssl_certificate_key %s/key.pem;
  root %s/website;
  location = /status { stub_status; access_log off; }
}
"""


def _free_ports() -> tuple[int, int]:
    with (
        socket.create_server(("127.0.0.1", 0)) as one,
        socket.create_server(("127.0.0.1", 0)) as two,
    ):
        return one.getsockname()[1], two.getsockname()[1]


def _settled(core: int) -> tuple[str, ...]:
    return "taskset", "-c", str(core), "nice", "-n", str(_NICE)


def unpack() -> None:
    """Fetch nginx and wrk, once; standard output is for figures."""
    command = [str(ROOT / "tools" / "unpack-packages"), str(DEBIAN), *PACKAGES]
    subprocess.run(command, check=True, stdout=sys.stderr)


class WebServer:
    """nginx with one worker, serving; use it in a ``with`` statement.

    Args:
        core: core that the worker runs on.

    Attributes:
        worker: the process that serves.
    """

    def __init__(self, core: int) -> None:
        self._folder = Path(tempfile.mkdtemp())
        self._folder.chmod(0o755)
        self._port, self._tls_port = _free_ports()
        self._page = self._write_website()
        command = [*_settled(core), str(DEBIAN / "usr/sbin/nginx"), "-c", str(self._configure())]
        self._master = subprocess.Popen(
            [*command, "-e", str(self._folder / "error.log"), "-g", "daemon off;"]
        )
        self._status = http.client.HTTPConnection("127.0.0.1", self._port, timeout=10)
        self._await_status()
        self.worker = self.processes()[1]

    def __enter__(self) -> "WebServer":
        return self

    def __exit__(self, *_: object) -> None:
        self._status.close()
        self._master.terminate()
        self._master.wait(20)
        shutil.rmtree(self._folder)

    def processes(self) -> list[int]:
        """Ids of the master and its workers."""
        children = Path(f"/proc/{self._master.pid}/task/{self._master.pid}/children")
        return [self._master.pid, *map(int, children.read_text().split())]

    def served(self) -> int:
        """Requests answered so far, this one included."""
        self._status.request("GET", "/status")
        answer = self._status.getresponse().read().decode()
        return int(answer.splitlines()[2].split()[2])

    def cpu_ns(self) -> int:
        """CPU time of the worker so far."""
        return time.clock_gettime_ns(~self.worker << 3 | 2)  # CPUCLOCK_SCHED, linux/posix-timers.h

    def load(self, client: str, core: int, seconds: int) -> subprocess.Popen[bytes]:
        """Start wrk as one of CLIENTS; it keeps the server busy until it is killed."""
        visits = client == "visitors"
        paths = ("/small.html",) if client == "small" else self._page
        scheme, port = ("https", self._tls_port) if visits else ("http", self._port)
        script = self._folder / "requests.lua"
        script.write_text(
            f"local paths, at = {{{', '.join(f'{path!r}' for path in paths)}}}, 0\n"
            "local asked, last = 0, 0\n"
            f"if {str(visits).lower()} then last = {_REQUESTS_A_CONNECTION} end\n"
            'local stay = {["Accept-Encoding"] = "gzip"}\n'
            'local close = {["Accept-Encoding"] = "gzip", ["Connection"] = "close"}\n'
            "function request()\n"
            "  at, asked = at % #paths + 1, asked + 1\n"
            "  local headers = stay\n"
            "  if asked == last then headers, asked = close, 0 end\n"
            '  return wrk.format("GET", paths[at], headers)\n'
            "end\n"
        )
        libraries = ":".join(str(path) for path in (DEBIAN / "usr/lib").glob("*-linux-gnu"))
        wrk = str(DEBIAN / "usr/bin/wrk")
        command = [*_settled(core), wrk, "-t1", f"-c{_CONNECTIONS}", f"-d{seconds}"]
        return subprocess.Popen(
            [*command, "-s", str(script), f"{scheme}://127.0.0.1:{port}"],
            env={**os.environ, "LD_LIBRARY_PATH": libraries},
            stdout=subprocess.DEVNULL,
        )

    def _await_status(self) -> None:
        for _ in range(100):
            try:
                self.served()
            except OSError:
                self._status.close()
                time.sleep(0.05)
            else:
                return
        raise SystemExit(f"nginx does not answer: {(self._folder / 'error.log').read_text()}")

    def _write_website(self) -> tuple[str, ...]:
        """Write a page's files; their paths in the order in which a browser finds them."""
        website = self._folder / "website"
        website.mkdir()
        noise = random.Random(1)
        files = {"small.html": b"x" * _SMALL_BYTES, "page.html": _prose(HTML_BYTES)}
        paths = ["/page.html"]
        for kind, (count, kilobytes) in ASSETS.items():
            for number in range(count):
                name = f"{kind}{number}.bin"
                files[name] = noise.randbytes(1000 * kilobytes // count)
                paths.append(f"/{name}")
        for name, content in files.items():
            (website / name).write_bytes(content)
        return tuple(paths)

    def _configure(self) -> Path:
        """Debian's nginx.conf with our folders and one worker, and a server instead of its own."""
        text = (DEBIAN / "etc/nginx/nginx.conf").read_text()
        folder = str(self._folder)
        text = re.sub(r"worker_processes \w+;", "worker_processes 1;", text)
        text = re.sub(r"include /etc/nginx/(modules-enabled|conf\.d)\S*;", "", text)
        text = text.replace("/etc/nginx/mime.types", str(DEBIAN / "etc/nginx/mime.types"))
        text = text.replace("/run/nginx.pid", f"{folder}/nginx.pid")
        text = text.replace("/var/log/nginx/", f"{folder}/")
        text = text.replace("/etc/nginx/sites-enabled/*", f"{folder}/website.conf")
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        rooms = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
        (self._folder / "website.conf").write_text(
            rooms + _RULE % (self._port, self._tls_port, folder, folder, folder)
        )
        names = ("-keyout", f"{folder}/key.pem", "-out", f"{folder}/certificate.pem")
        kind = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
        subprocess.run(
            ["openssl", "req", "-x509", *kind, *names, "-days", "2", "-subj", "/CN=localhost"],
            check=True,
            capture_output=True,
        )
        configuration = self._folder / "nginx.conf"
        configuration.write_text(text)
        return configuration


def _prose(count: int) -> bytes:
    """HTML of a given size that compresses like text: words by natural frequency."""
    pick = random.Random(2)
    letters = "etaoinshrdlucmfwypvbgk"
    words = ["".join(pick.choices(letters, k=pick.randint(2, 9))) for _ in range(3000)]
    shares = [1 / rank for rank in range(1, len(words) + 1)]
    chosen = pick.choices(words, shares, k=count // 4)
    lines = [
        f"<p class=text>{' '.join(chosen[at : at + 40])}</p>" for at in range(0, len(chosen), 40)
    ]
    return ("<!doctype html><title>Page</title>" + "\n".join(lines)).encode()[:count]
