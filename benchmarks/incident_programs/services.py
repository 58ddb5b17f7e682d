"""Python services with one fault each, and the same without it: services.py KIND fault|healthy.

benchmarks/incident_servers.py says what each is. They need the packages of requirements-dev.lock,
and run until they are ended.
"""

import asyncio
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests
import requests.adapters
import uvicorn
from fastapi import FastAPI

FAULT = sys.argv[2] == "fault"


def in_child(begin: Callable[[], None]) -> None:
    """Run something in a process of its own, which ends with this one."""
    parent, child = socket.socketpair()
    if os.fork() == 0:
        parent.close()
        threading.Thread(target=begin, daemon=True).start()
        child.recv(1)
        os._exit(0)
    CHILDREN.append(parent)


CHILDREN: list[socket.socket] = []


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def thread_pool() -> None:
    """A FastAPI endpoint that blocks for 0.4 s in the pool of 40 threads: 150 clients, or three."""
    app = FastAPI()

    @app.get("/")
    def report() -> str:
        time.sleep(0.4)
        return "done"

    port = free_port()

    def ask() -> None:
        url = f"http://127.0.0.1:{port}/"
        while True:
            try:
                requests.get(url, timeout=60)
            except requests.ConnectionError:
                time.sleep(0.2)
            time.sleep(0.05)

    def clients() -> None:
        for _ in range(150 if FAULT else 3):
            threading.Thread(target=ask, daemon=True).start()

    in_child(clients)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="critical", access_log=False)


def connection_pool() -> None:
    """Twelve threads ask a service of 30 ms over a pool of two connections, or of twelve."""

    class Answer(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            time.sleep(0.03)
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *_: object) -> None:
            pass

    port = free_port()
    in_child(lambda: ThreadingHTTPServer(("127.0.0.1", port), Answer).serve_forever())
    session = requests.Session()
    pool = requests.adapters.HTTPAdapter(pool_maxsize=2 if FAULT else 12, pool_block=True)
    session.mount("http://", pool)
    time.sleep(1)

    def work() -> None:
        while True:
            session.get(f"http://127.0.0.1:{port}/", timeout=60)
            time.sleep(0.02 if FAULT else 0.2)

    for number in range(12):
        threading.Thread(target=work, name=f"checkout-{number}").start()


def sleeping_loop() -> None:
    """An asyncio server that calls a service in its loop, 0.15 s each, without awaiting it."""

    def slow() -> None:
        time.sleep(0.15 if FAULT else 0.001)

    async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while asked := await reader.readline():
            if asked == b"report\n":
                slow()
            writer.write(b"done\n")
            await writer.drain()

    port = free_port()

    async def serve() -> None:
        server = await asyncio.start_server(serve_one, "127.0.0.1", port)
        await server.serve_forever()

    def ask(question: bytes, pause_s: float) -> None:
        while True:
            try:
                connection = socket.create_connection(("127.0.0.1", port))
                break
            except ConnectionRefusedError:
                time.sleep(0.1)
        while True:
            connection.sendall(question)
            connection.recv(64)
            time.sleep(pause_s)

    def clients() -> None:
        for _ in range(4):
            threading.Thread(target=ask, args=(b"price\n", 0.01), daemon=True).start()
        ask(b"report\n", 0.2)

    in_child(clients)
    asyncio.run(serve())


def main() -> None:
    """Run one."""
    kinds = {
        "thread-pool": thread_pool,
        "connection-pool": connection_pool,
        "sleeping-loop": sleeping_loop,
    }
    print("ready", flush=True)
    kinds[sys.argv[1]]()


main()
