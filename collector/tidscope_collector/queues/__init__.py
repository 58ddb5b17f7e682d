"""Queues that the kernel keeps: connections not yet accepted, locks of files, busy devices.

Takes process IDs; gives rows of `accept_queues`, `file_locks` and `devices`.
"""
