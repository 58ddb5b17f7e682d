"""Privileged part of tidscope: reads threads from the kernel and sends frames to the backend."""

import os

# Libraries start threads when they load. Such threads would keep rights that the collector gives up
# later, since rights belong to threads. Neither library needs them: OpenBLAS computes nothing here,
# and Arrow uses the system's allocator.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("JE_ARROW_MALLOC_CONF", "background_thread:false")
