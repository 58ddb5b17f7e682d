"""Replay of runs: stored parts in, frames as in a live stream out. Must not know HTTP."""
