"""Spans joined with what samples say of their threads: why a stretch of a request took its time."""
