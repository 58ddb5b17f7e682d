"""Proof mode: whether a policy helps a live program, by blocks with it and without it in turn."""
