"""Spans and traces, and the documents that they are read from."""
