"""Fetches a page repeatedly from its own server, over a new connection each time."""

import argparse
import http.server
import json
import os
import selectors
import socket
import subprocess
import sys
import time

from generated import output_of, started

HOST = "127.0.0.1"
SAYS = "%{size_download} %{size_header}"


def page_of(length: int) -> type[http.server.BaseHTTPRequestHandler]:
    """Handler class that answers every GET with a page of a given length."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(b"x" * length)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Page


def main() -> None:
    """Serve until the end of the input."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page-bytes", type=int, required=True)
    parser.add_argument("--every", type=float, required=True)
    parser.add_argument("--serve-only", action="store_true")
    options = parser.parse_args()
    if options.serve_only:
        server = http.server.ThreadingHTTPServer((HOST, 0), page_of(options.page_bytes))
        print(server.server_port, flush=True)
        server.serve_forever()
    page = started([sys.executable, *sys.argv, "--serve-only"])
    try:
        line = page.stdout.readline() if page.stdout is not None else ""
        if not line:
            output_of(page)
        fetch_when_asked(int(line), options.every)
    finally:
        page.kill()
        page.wait()


def fetch_when_asked(port: int, every_s: float) -> None:
    """Answer the lines of an experiment; between `begin` and `end` fetch the page."""
    expected = bytes_of_curl(port)
    print(json.dumps({"ready": f"{HOST}:{port}"}), flush=True)
    began: float | None = None
    due, fetches, left = 0.0, 0, b""
    with selectors.DefaultSelector() as selector:
        selector.register(sys.stdin.fileno(), selectors.EVENT_READ)
        while True:
            wait = None if began is None else max(0.0, due - time.monotonic())
            if not selector.select(wait):
                fetch(port)
                fetches += 1
                due += every_s
                continue
            piece = os.read(sys.stdin.fileno(), 4096)
            if not piece:
                return
            *lines, left = (left + piece).split(b"\n")
            for said in lines:
                if said == b"begin":
                    began = due = time.monotonic()
                    fetches = 0
                    print("{}", flush=True)
                elif said == b"end" and began is not None:
                    elapsed_s = time.monotonic() - began
                    began = None
                    figures = {
                        "ops": fetches,
                        "elapsed_s": elapsed_s,
                        "net_expected": fetches * expected,
                    }
                    print(json.dumps(figures), flush=True)
                else:
                    sys.exit(f"{said!r} is neither begin nor the end of it")


def bytes_of_curl(port: int) -> int:
    """Bytes that a fetch reads according to curl: page and header."""
    command = ["curl", "--silent", "--output", os.devnull, "--write-out", SAYS]
    done = subprocess.run(
        [*command, f"http://{HOST}:{port}/"], capture_output=True, text=True, check=True
    )
    return sum(map(int, done.stdout.split()))


def fetch(port: int) -> None:
    """Fetch the page, by read and write, as most programs do with sockets."""
    with socket.create_connection((HOST, port)) as connection:
        number = connection.fileno()
        os.write(number, b"GET / HTTP/1.0\r\n\r\n")
        while os.read(number, 65536):
            pass


if __name__ == "__main__":
    main()
