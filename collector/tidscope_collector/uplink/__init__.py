"""The way to the backend: replay buffer, connection, commands."""
