"""The privileged part of tidscope: reads threads from the kernel, sends frames to the backend."""

import os

# Libraries start threads as they are loaded; these would keep the rights that the collector gives
# up later, which belong to threads. It needs neither: OpenBLAS computes nothing here, and Arrow
# uses the system's allocator.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("JE_ARROW_MALLOC_CONF", "background_thread:false")
