"""Spans joined with samples of their threads, to explain the duration of a request's parts."""
