"""Locks that threads wait for: their numbers and names.

Takes futex addresses and a runtime's own account; gives rows of `locks` and `lock_names`. Must not
know how waits are measured.
"""
