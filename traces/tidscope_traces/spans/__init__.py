"""Spans and traces, and readers of their documents."""
