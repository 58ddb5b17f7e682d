"""The unprivileged part of tidscope: HTTP and WebSocket server, and the command line."""

from importlib.metadata import version

VERSION = version("tidscope")
