"""Replay of runs: stored parts in, frames as a page gets them live out. Knows no HTTP."""
