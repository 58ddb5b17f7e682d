"""Runs as files that leave this machine, and come back: see docs/runs.md."""
