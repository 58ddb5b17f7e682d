"""Runs on disk: folders, manifests and parts, read as Arrow tables (docs/runs.md)."""
