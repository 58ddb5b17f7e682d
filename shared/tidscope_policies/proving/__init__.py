"""Proof mode: blocks with and without a policy in turn show whether it helps a live program."""
