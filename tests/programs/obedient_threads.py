"""A program whose threads do what is asked of them, and sleep; and its handle for tests.

Each line on its input is a command, answered with a line when it is done and all threads wait:
`born NAME`, `work NAME BYTES` (sends itself a datagram), `named NAME OTHER`, `ends NAME`.
"""

import sys

from programs.running import RunningProgram, with_our_path


def main() -> None:
    """Obey."""
    import queue
    import socket
    import threading
    import time
    from pathlib import Path

    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.bind(("127.0.0.1", 0))
    done: queue.SimpleQueue[int] = queue.SimpleQueue()
    threads: dict[str, tuple[threading.Thread, queue.SimpleQueue[int]]] = {}

    def obey(orders: "queue.SimpleQueue[int]") -> None:
        while (count := orders.get()) >= 0:
            link.sendto(b"x" * count, link.getsockname())
            link.recv(65536)
            done.put(count)

    def call(thread: threading.Thread, name: str) -> None:
        Path(f"/proc/self/task/{thread.native_id}/comm").write_text(name)

    print("ready", flush=True)
    for line in sys.stdin:
        match line.split():
            case ["born", name]:
                orders: queue.SimpleQueue[int] = queue.SimpleQueue()
                thread = threading.Thread(target=obey, args=(orders,))
                thread.start()
                call(thread, name)
                threads[name] = thread, orders
            case ["work", name, count]:
                threads[name][1].put(int(count))
                done.get()
            case ["named", name, other]:
                threads[other] = threads.pop(name)
                call(threads[other][0], other)
            case ["ends", name]:
                thread, orders = threads.pop(name)
                task = Path(f"/proc/self/task/{thread.native_id}")
                orders.put(-1)
                thread.join()
                # The interpreter has done with a thread before the kernel has.
                while task.exists():
                    time.sleep(0.001)
        print("done", flush=True)


class ObedientThreads(RunningProgram):
    """The running program."""

    def __init__(self) -> None:
        super().__init__([sys.executable, "-m", "programs.obedient_threads"], with_our_path())
        assert self.line() == "ready"

    def order(self, command: str) -> None:
        """Have a command carried out."""
        assert self.ask(f"{command}\n") == "done"


if __name__ == "__main__":
    main()
