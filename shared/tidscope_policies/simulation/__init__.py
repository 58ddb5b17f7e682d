"""Simulated pools, and campaigns that score policies on them.

Takes scenarios and seeds, gives scores. Must not know the collector or the backend.
"""
