"""Threads whose time in each function is known: see known_code.py. For any CPython from 3.9 on."""

import _thread
import json
import random
import sys
import threading
import time

now_ns = time.monotonic_ns


class Worker(threading.Thread):
    """Calls functions in known turns until an instant."""

    def __init__(self, end_ns: int) -> None:
        super().__init__()
        self.end_ns = end_ns
        self.ns: dict[str, int] = {}
        self.never = _thread.allocate_lock()
        self.never.acquire()

    def _enter(self, name: str, begin_ns: int) -> None:
        self.ns[name] = self.ns.get(name, 0) + now_ns() - begin_ns

    def wait_briefly(self) -> None:
        begin_ns = now_ns()
        self.never.acquire(True, 0.0004)
        self._enter("wait_briefly", begin_ns)

    def wait_longer(self) -> None:
        begin_ns = now_ns()
        self.never.acquire(True, 0.004)
        self._enter("wait_longer", begin_ns)

    def rest_briefly(self) -> None:
        begin_ns = now_ns()
        time.sleep(0.0004)
        self._enter("rest_briefly", begin_ns)

    def rest_longer(self) -> None:
        begin_ns = now_ns()
        time.sleep(0.004)
        self._enter("rest_longer", begin_ns)

    def compute_some(self) -> None:
        begin_ns = now_ns()
        compute(0.001)
        self._enter("compute_some", begin_ns)

    def compute_more(self) -> None:
        begin_ns = now_ns()
        compute(0.003)
        self._enter("compute_more", begin_ns)

    def run(self) -> None:
        while now_ns() < self.end_ns:
            for _ in range(1 + random.randrange(15)):
                self.wait_briefly()
                self.rest_briefly()
            self.wait_longer()
            self.rest_longer()
            self.compute_some()
            self.compute_more()


def compute(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


class Turns:
    """A lock that one thread waits for, and two others release in turn."""

    def __init__(self, end_ns: int) -> None:
        self.end_ns = end_ns
        self.released = _thread.allocate_lock()
        self.asked = [_thread.allocate_lock(), _thread.allocate_lock()]
        for one in (self.released, *self.asked):
            one.acquire()
        self.over = False
        self.releaser = ""
        self.ns: dict[str, int] = {}
        self.tids: dict[str, int] = {}
        self.waiter = 0

    def post_soon(self) -> None:
        self.releaser = "post_soon"
        self.released.release()

    def post_late(self) -> None:
        self.releaser = "post_late"
        self.released.release()

    def await_release(self) -> None:
        begin_ns = now_ns()
        self.released.acquire()
        self.ns[self.releaser] = self.ns.get(self.releaser, 0) + now_ns() - begin_ns

    def release(self, which: int, seconds: float) -> None:
        post = (self.post_soon, self.post_late)[which]
        self.tids[post.__name__] = threading.get_native_id()
        while True:
            self.asked[which].acquire()
            if self.over:
                return
            time.sleep(seconds)
            post()

    def wait_in_turn(self) -> None:
        self.waiter = threading.get_native_id()
        which = 0
        while now_ns() < self.end_ns:
            self.asked[which].release()
            self.await_release()
            which = 1 - which
        self.over = True
        for one in self.asked:
            one.release()


def run(seconds: float) -> dict[str, object]:
    end_ns = now_ns() + int(seconds * 1e9)
    workers = [Worker(end_ns) for _ in range(3)]
    turns = Turns(end_ns)
    others = [
        threading.Thread(target=turns.release, args=(0, 0.001)),
        threading.Thread(target=turns.release, args=(1, 0.004)),
        threading.Thread(target=turns.wait_in_turn),
    ]
    for one in (*workers, *others):
        one.start()
    for one in (*workers, *others):
        one.join()
    return {
        "workers": {one.native_id: one.ns for one in workers},
        "waiter": turns.waiter,
        "released_ns": turns.ns,
        "releasers": turns.tids,
    }


print("ready", flush=True)
for line in sys.stdin:
    print(json.dumps(run(float(line))), flush=True)
