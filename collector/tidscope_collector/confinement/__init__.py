"""Confinement: system call filters, capabilities, Landlock, and the fork server of limited
children.

Takes what the collector goes on doing; gives up everything else. Must not know about sampling.
"""
