"""Threads that wait for another process or for a queue: asking.py KIND fault|healthy.

benchmarks/incident_unseen.py says what each is. They run until they are ended; their processes are
in one process group.
"""

import http.client
import http.server
import multiprocessing
import queue
import sys
import threading
import time
from pathlib import Path

FAULT = sys.argv[2] == "fault"


class Answers(http.server.BaseHTTPRequestHandler):
    """Answers requests over connections that stay."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self) -> None:
        """Answer with a row."""
        self.send_response(200)
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"row")

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def store(ports: "multiprocessing.SimpleQueue[int]") -> None:
    """Serve in a process of its own."""
    Path("/proc/self/comm").write_text("row-store")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    ports.put(server.server_address[1])
    server.serve_forever()


def http_n_plus_one() -> None:
    """Two threads ask a store over HTTP 100 times for each request, or once."""
    ports: multiprocessing.SimpleQueue[int] = multiprocessing.SimpleQueue()
    multiprocessing.Process(target=store, args=(ports,), daemon=True).start()
    port = ports.get()

    def handle() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        while True:
            for _ in range(100 if FAULT else 1):
                connection.request("GET", "/row")
                connection.getresponse().read()
            time.sleep(0.02)

    for _ in range(2):
        threading.Thread(target=handle, name="handler", daemon=True).start()


def full_queue() -> None:
    """Six threads put into a queue of four what one takes out in 20 ms, or in 0.1 ms."""
    jobs: queue.Queue[int] = queue.Queue(4)

    def scan() -> None:
        while True:
            time.sleep(0.001 if FAULT else 0.2)
            jobs.put(1)

    def index() -> None:
        while True:
            jobs.get()
            time.sleep(0.02 if FAULT else 0.0001)

    for number in range(6):
        threading.Thread(target=scan, name=f"scan-{number}", daemon=True).start()
    threading.Thread(target=index, name="indexer", daemon=True).start()


if __name__ == "__main__":
    print("ready", flush=True)
    {"n-plus-one": http_n_plus_one, "full-queue": full_queue}[sys.argv[1]]()
    while True:
        time.sleep(3600)
