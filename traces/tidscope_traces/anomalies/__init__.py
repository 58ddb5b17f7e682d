"""Traces whose critical path is unlike those of their endpoint."""
