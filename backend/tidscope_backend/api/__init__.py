"""Thin REST routes: request in, model or problem document out. Must not know any wire format."""

PREFIX = "/api/v1"
