"""Thin REST routes: requests in, models or problem documents out. Know no wire format."""

PREFIX = "/api/v1"
