"""Names of threads beyond the kernel's 15 bytes, as a program's runtime knows them.

Takes a process; gives names by thread ID. Must not know about frames.
"""
