"""Queues that the kernel keeps: connections not yet accepted or not read, locks of files, devices.

Takes process IDs; gives rows of `accept_queues`, `send_queues`, `file_locks` and `devices`.
"""
