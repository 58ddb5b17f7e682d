"""The unprivileged part of tidscope: HTTP and WebSocket server, and the command line."""

import os
from importlib.metadata import version

# Arrow's own pools keep a hundred megabytes after reading a large run; freed memory of the system
# allocator can be returned (processes.py). Arrow reads the variable while loading.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")

VERSION = version("tidscope")
