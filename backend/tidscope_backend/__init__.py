"""The unprivileged part of tidscope: HTTP and WebSocket server, and the command line."""
