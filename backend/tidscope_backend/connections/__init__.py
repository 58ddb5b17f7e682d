"""Accepted connections: bounds, deadlines and protocols of the server. Knows no routes."""
