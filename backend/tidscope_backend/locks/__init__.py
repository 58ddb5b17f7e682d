"""Locks of Go programs: what is done while they are held, who waits, and what might help."""
