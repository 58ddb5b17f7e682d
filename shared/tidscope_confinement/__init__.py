"""Irrevocable confinement: files (Landlock), system calls (seccomp), capabilities, resources.

Takes the files, calls and capabilities that a process keeps, which the callers choose. Uses the
standard library alone, because minimal processes load it.
"""
