"""Giving up rights, for good: files (Landlock), system calls (seccomp), capabilities, resources.

Mechanism only: which files, calls and capabilities a process keeps is said where it is confined.
Uses the standard library alone, since small processes load it that have nothing else.
"""
