"""Python programs with one fault each, and the same without it: incident.py KIND fault|healthy.

benchmarks/incident_cases.py says what each is. They run until they are ended.
"""

import asyncio
import hashlib
import logging
import os
import queue
import socket
import socketserver
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from urllib.request import urlopen

FAULT = sys.argv[2] == "fault"
DATA = b"x" * 4096
CHILDREN: list[socket.socket] = []
"""Ends of pairs whose other ends children wait at, to end with this process."""


def compute(seconds: float) -> None:
    """Compute in Python code, which holds the GIL."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(500))


def named(pool: str, count: int) -> ThreadPoolExecutor:
    """A pool whose threads have their names in the kernel, too."""
    return ThreadPoolExecutor(count, thread_name_prefix=pool)


def gil_pool() -> None:
    """Eight threads that compute in Python; the twin's compute little."""
    while True:
        with named("resizer", 8) as pool:
            for _ in range(400):
                pool.submit(compute, 0.02 if FAULT else 0.0005)
                if not FAULT:
                    time.sleep(0.02)


def full_executor() -> None:
    """A pool of four for jobs that take 0.2 s each: 40 a second come, or five."""
    pool = named("job", 4)

    def job() -> None:
        time.sleep(0.2)
        compute(0.001)

    def arrive() -> None:
        period = 1 / 40 if FAULT else 1 / 5
        while True:
            pool.submit(job)
            time.sleep(period)

    arriving = threading.Thread(target=arrive, name="acceptor")
    arriving.start()
    arriving.join()


def semaphore() -> None:
    """A pool of twelve of which two may ask a slow store at a time; the twin's pool takes turns."""
    store = threading.Semaphore(2)

    def job() -> None:
        with store:
            time.sleep(0.02)

    pool = named("render", 12)
    while True:
        jobs = [pool.submit(job) for _ in range(60 if FAULT else 2)]
        wait(jobs)
        time.sleep(0 if FAULT else 0.1)


def consumers() -> None:
    """Twelve consumers of a queue that hardly ever gets anything: healthy, whatever it is asked."""
    work: queue.Queue[float] = queue.Queue()

    def consume() -> None:
        while True:
            compute(work.get())

    for number in range(12):
        threading.Thread(target=consume, name=f"consumer-{number}", daemon=True).start()
    while True:
        work.put(0.0005)
        time.sleep(0.02 if FAULT else 600)


def deadlock() -> None:
    """Two threads take two locks in opposite order and the main thread waits for them.

    The twin has idle threads instead, and a main thread that sleeps.
    """
    if not FAULT:
        consumers()
    orders, stock = threading.Lock(), threading.Lock()

    def take(first: threading.Lock, second: threading.Lock) -> None:
        while True:
            with first:
                time.sleep(0.001)
                with second:
                    compute(0.0001)

    sell = threading.Thread(target=take, args=(orders, stock), name="sell")
    restock = threading.Thread(target=take, args=(stock, orders), name="restock")
    sell.start()
    restock.start()
    sell.join()


def thread_leak() -> None:
    """A thread for each request, five a second, which waits for an event that never comes."""
    never = threading.Event()
    while True:
        threading.Thread(target=never.wait, args=(None if FAULT else 0.05,), daemon=True).start()
        time.sleep(0.2)


def logging_lock() -> None:
    """Ten threads log to a file that is synced under the handler's lock; the twin's is not."""

    class Synced(logging.FileHandler):
        def emit(self, record: logging.LogRecord) -> None:
            super().emit(record)
            if FAULT and self.stream:
                os.fsync(self.stream.fileno())

    log = logging.getLogger("orders")
    with tempfile.NamedTemporaryFile(dir="/var/tmp") as file:
        log.addHandler(Synced(file.name))

    def work() -> None:
        while True:
            log.warning("an order of %s", DATA[:2000])
            time.sleep(0.001 if FAULT else 0.05)

    for number in range(10):
        threading.Thread(target=work, name=f"order-{number}").start()
    threading.Event().wait()


def one_at_a_time() -> None:
    """An HTTP server without threads that takes 50 ms for a page, and ten clients, or one."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            time.sleep(0.05)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Page)
    port = server.server_address[1]

    def ask() -> None:
        while True:
            try:
                urlopen(f"http://127.0.0.1:{port}/").read()
            except OSError:
                os._exit(0)
            time.sleep(0.2)

    def clients() -> int:
        server.socket.close()
        for _ in range(10 if FAULT else 1):
            threading.Thread(target=ask, daemon=True).start()
        return 0

    in_child(clients)
    server.serve_forever()


def in_child(begin: Callable[[], int]) -> int:
    """Run a service in a process of its own until this one ends; the port that it begins on."""
    parent, child = socket.socketpair()
    if os.fork() == 0:
        parent.close()
        child.sendall(begin().to_bytes(2, "big"))
        child.recv(1)
        os._exit(0)
    child.close()
    CHILDREN.append(parent)
    return int.from_bytes(parent.recv(2), "big")


def serve(handler: type[BaseHTTPRequestHandler]) -> int:
    """Serve HTTP on a free port, in threads; the port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, name="http", daemon=True).start()
    return int(server.server_address[1])


def ask_for_ever(port: int) -> None:
    """Send lines to an echo server over four connections, in turn, as a process of its own."""
    streams = [socket.create_connection(("127.0.0.1", port)) for _ in range(4)]
    while True:
        for stream in streams:
            stream.sendall(b"hello\n")
        for stream in streams:
            if not stream.recv(100):
                os._exit(0)
        time.sleep(0.01)


async def event_loop() -> None:
    """An echo server of asyncio that hashes a password in its loop; the twin in a thread."""

    def slow() -> None:
        hashlib.pbkdf2_hmac("sha256", DATA, DATA, 150_000)

    async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.readline():
            writer.write(b"done\n")
            await writer.drain()

    server = await asyncio.start_server(serve_one, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    if os.fork() == 0:
        ask_for_ever(port)
    pool = named("hasher", 1)
    while True:
        await asyncio.sleep(0.05 if FAULT else 0.5)
        if FAULT:
            slow()
        else:
            await asyncio.get_running_loop().run_in_executor(pool, slow)


def slow_dependency() -> None:
    """Workers that ask a service which answers after half a second, or at once."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            time.sleep(0.5 if FAULT else 0.001)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    port = in_child(lambda: serve(Answer))

    def work() -> None:
        while True:
            urlopen(f"http://127.0.0.1:{port}/").read()
            time.sleep(0.05)

    for number in range(6):
        threading.Thread(target=work, name=f"checkout-{number}").start()


def n_plus_one() -> None:
    """A request a loop that asks a store on loopback 200 times, or once."""

    class Store(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            while self.request.recv(64):
                time.sleep(0.0003)
                self.request.sendall(b"row\n")

    def serve_store() -> int:
        server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Store)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return int(server.server_address[1])

    port = in_child(serve_store)

    def work() -> None:
        with socket.create_connection(("127.0.0.1", port)) as stream:
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while True:
                for _ in range(200 if FAULT else 1):
                    stream.sendall(b"get\n")
                    stream.recv(64)
                time.sleep(0.02)

    for number in range(2):
        threading.Thread(target=work, name=f"list-orders-{number}").start()


def main() -> None:
    """Run one."""
    kinds = {
        "gil-pool": gil_pool,
        "full-executor": full_executor,
        "event-loop": lambda: asyncio.run(event_loop()),
        "slow-dependency": slow_dependency,
        "n-plus-one": n_plus_one,
        "semaphore": semaphore,
        "consumers": consumers,
        "deadlock": deadlock,
        "logging-lock": logging_lock,
        "thread-leak": thread_leak,
        "one-at-a-time": one_at_a_time,
    }
    print("ready", flush=True)
    kinds[sys.argv[1]]()


main()
