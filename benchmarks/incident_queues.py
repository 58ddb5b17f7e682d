"""Programs that queue in front of a few workers, a lock of a file or an event loop.

php-fpm, perl-flock and python-filelock were written before the rules that concern them, which were
not tuned on these programs.
"""

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from incident import HERE, Incident
from incident_places import ended, listens, quiet, wait_until
from incident_processes import PROGRAMS
from incident_servers import NGINX, SERVICES

PHP = HERE.parents[1] / ".cache" / "php" / "usr" / "sbin" / "php-fpm8.2"
NO_DELAY = ("-Dsun.net.httpserver.nodelay=true",)
"""Without it each answer of the JDK's server waits 40 ms for an acknowledgement."""
POOL = """[global]
error_log = {folder}/errors
daemonize = no
[www]
user = root
group = root
listen = 127.0.0.1:{port}
pm = static
pm.max_children = 3
"""
RULES = """daemon off;
worker_processes 1;
pid {folder}/pid;
error_log {folder}/nginx-errors;
events {{ worker_connections 256; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port};
    location / {{
      fastcgi_pass 127.0.0.1:{pool};
      fastcgi_param SCRIPT_FILENAME {page};
      fastcgi_param REQUEST_METHOD GET;
    }}
  }}
}}
"""


def _free_ports() -> tuple[int, int]:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("", 0)) as other:
        return one.getsockname()[1], other.getsockname()[1]


@contextmanager
def php_fpm(_program: Sequence[str], fault: bool, folder: Path) -> Iterator[int]:
    """Three workers of php-fpm behind nginx, and twelve clients, or one, of a page of 0.3 s."""
    pool, port = _free_ports()
    folder.chmod(0o755)
    (folder / "pool").write_text(POOL.format(folder=folder, port=pool))
    page = HERE / "slow_page.php"
    (folder / "rules").write_text(RULES.format(folder=folder, port=port, pool=pool, page=page))
    server = (str(PHP), "-n", "-R", "-F", "-y", str(folder / "pool"))
    front = (str(NGINX), "-c", str(folder / "rules"))
    clients = "12" if fault else "1"
    asks = ("wrk", "-t", "1", "-c", clients, "-d", "3600", f"http://127.0.0.1:{port}/")
    with ended(quiet(server, folder)) as process:
        wait_until(partial(listens, pool), "php-fpm")
        with ended(quiet(front, folder)):
            wait_until(partial(listens, port), "nginx")
            with ended(quiet(asks, folder)):
                yield process.pid


QUEUES: tuple[Incident, ...] = (
    Incident(
        "php-fpm-workers",
        "three workers that take a connection at a time, and twelve clients",
        (),
        right=r"(wait|queue).*accept.*php-fpm|php-fpm.*(full|busy all the time|queue)",
        symptom=r"php-fpm",
        misleading=r"were idle|one lock|each other|finds nothing",
        place=php_fpm,
        tree=True,
        needs=("wrk", str(PHP), str(NGINX)),
    ),
    Incident(
        "perl-flock",
        "five processes append to one file under flock, one at a time",
        ("perl", str(HERE / "ledger.pl")),
        right=r"(perl|ledger-writer).*(lock of (a|the) file|one lock|flock)",
        symptom=r"perl|ledger-writer",
        misleading=r"were idle|disk|finds nothing",
        tree=True,
    ),
    Incident(
        "python-filelock",
        "five processes share a lock of the package filelock, which looks for it by timers",
        (*PROGRAMS, "file-lock"),
        right=r"reporter.*(lock of (a|the) file|one at a time|each other)",
        symptom=r"reporter",
        misleading=r"were idle|disk|finds nothing",
        tree=True,
    ),
    Incident(
        "node-crypto-pool",
        "all four threads of Node's pool hash passwords, and reads of files wait behind them",
        ("node", str(HERE / "crypto.mjs")),
        right=r"(threads of|libuv|node).*(full|busy|queue).*|pool.*(full|busy)",
        symptom=r"libuv|pool|waits? for a CPU",
        misleading=r"were idle|one lock|event loop",
    ),
    Incident(
        "python-sleeping-loop",
        "an asyncio server calls a slow service in its loop, and other clients wait",
        (*SERVICES, "sleeping-loop"),
        right=r"event loop.*(sleep|call)",
        symptom=r"event loop|sleep",
        misleading=r"were idle|one lock|computing",
    ),
    Incident(
        "java-http-loop",
        "the one thread of the JDK's HTTP server sleeps in a handler, and other clients wait",
        ("java", "-Xmx96m", *NO_DELAY, "-cp", "{build}/java", "Stops", "http-loop"),
        right=r"(event loop|HTTP-Dispatcher).*(sleep|call|blocked)",
        symptom=r"HTTP-Dispatcher",
        misleading=r"were idle|one lock|computing",
    ),
    Incident(
        "java-safepoints",
        "a thread collects the whole heap again and again, which stops all others",
        ("java", "-Xmx400m", "-XX:+UseSerialGC", "-cp", "{build}/java", "Stops", "collections"),
        right=r"(stop|stand still).*(collect|safepoint|VM Thread)",
        symptom=r"VM Thread|collection|garbage",
        misleading=r"were idle|one lock|each other",
    ),
)
