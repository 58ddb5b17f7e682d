"""Accepted connections: bounds, deadlines and protocols of the server. Must not know routes."""
