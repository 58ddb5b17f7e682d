"""Collectors' connections over NATS: docs/fleet.md."""
