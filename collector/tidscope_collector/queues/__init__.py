"""Queues that the kernel keeps: connections not yet accepted or not read, and who is at their other
ends, locks of files, devices.

Takes process IDs; gives rows of `accept_queues`, `peers`, `file_locks` and `devices`.
"""
