"""Confinement: system call filters, capabilities, Landlock, and limited children.

Takes what the collector goes on doing; gives up everything else. Must not know about sampling.
"""
