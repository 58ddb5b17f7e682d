"""Runs on disk: their folders, manifests and parts, read as Arrow tables (docs/runs.md)."""
