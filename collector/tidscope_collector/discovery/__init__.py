"""Discovery of a process' threads, and of those that have run since the previous sample.

Takes a process ID; gives thread IDs. Must not know which counters are read.
"""
