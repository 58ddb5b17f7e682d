"""Locks of Go programs: critical sections, waiters, and hints for improvement."""
