"""Thin REST routes, one file a resource."""

PREFIX = "/api/v1"
