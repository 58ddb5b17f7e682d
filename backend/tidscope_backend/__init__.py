"""The unprivileged part of tidscope: HTTP and WebSocket server, and the command line."""

import os
from importlib.metadata import version

# Arrow's own pools keep a hundred megabytes for good after a large run was read; what the system's
# allocator has freed can be returned (processes.py). Arrow chooses as it is loaded.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")

VERSION = version("tidscope")
