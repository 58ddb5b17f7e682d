"""A program with an OpenTelemetry SDK: a request that waits for a lock, then computes.

`traced.py ADDRESS TOKEN`: for each line of its input one request, whose spans it sends to ADDRESS;
then it prints a line of JSON: `trace`, and `waiter` and `holder`, ids of its threads. For a line
`note` it is a request of a thread without a name of its own in the kernel: `trace`, and `noter`.
"""

import ctypes
import json
import os
import socket
import sys
import threading
import time
from queue import SimpleQueue

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

HELD_SECONDS, BUSY_SECONDS = 0.6, 0.3
PR_SET_NAME = 15


class ThreadOfSpan(SpanProcessor):
    """Span processor of docs/traces.md."""

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Say which thread begins it."""
        span.set_attribute("thread.id", threading.get_native_id())
        span.set_attribute("thread.name", threading.current_thread().name)


def called(name: str) -> None:
    """Give this thread a name that the kernel knows."""
    ctypes.CDLL(None).prctl(PR_SET_NAME, name.encode(), 0, 0, 0)


def meet(end: socket.socket) -> None:
    """Wait until a thread is at the other end, too."""
    end.sendall(b".")
    end.recv(1)


def main() -> None:
    """Serve requests until the input ends."""
    address, token = sys.argv[1:]
    resource = Resource.create({"service.name": "traced", "process.pid": os.getpid()})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(ThreadOfSpan())
    exporter = OTLPSpanExporter(address, headers={"authorization": f"Bearer {token}"})
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracer = provider.get_tracer("traced")
    lock, work = threading.Lock(), SimpleQueue[None]()
    # A barrier makes a lock for each wait, and three locks of one thread count as conditions.
    ends = socket.socketpair()
    done, holder_tid = SimpleQueue[dict[str, object]](), SimpleQueue[int]()

    def holder() -> None:
        called("holder")
        holder_tid.put(threading.get_native_id())
        while True:
            work.get()
            with lock:
                meet(ends[0])
                # On a busy machine the waiter comes late.
                meet(ends[0])
                time.sleep(HELD_SECONDS)

    notes, noted = SimpleQueue[None](), SimpleQueue[dict[str, object]]()

    def noter() -> None:
        while True:
            notes.get()
            with tracer.start_as_current_span("note") as span:
                trace = format(span.get_span_context().trace_id, "032x")
            noted.put({"trace": trace, "noter": threading.get_native_id()})

    def waiter() -> None:
        called("waiter")
        tid = holder_tid.get()
        while True:
            meet(ends[1])
            with tracer.start_as_current_span("request") as span:
                meet(ends[1])
                with tracer.start_as_current_span("wait"), lock:
                    pass
                with tracer.start_as_current_span("compute"):
                    end = time.thread_time() + BUSY_SECONDS
                    while time.thread_time() < end:
                        pass
                trace = format(span.get_span_context().trace_id, "032x")
            done.put({"trace": trace, "waiter": threading.get_native_id(), "holder": tid})

    for one in (holder, waiter):
        threading.Thread(target=one, daemon=True).start()
    threading.Thread(target=noter, name="order\x1b-worker", daemon=True).start()
    print("{}", flush=True)
    for line in sys.stdin:
        is_note = line.strip() == "note"
        (notes if is_note else work).put(None)
        found = (noted if is_note else done).get()
        provider.force_flush()
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
