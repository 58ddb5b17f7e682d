"""Processes of this host: list, identity, runtime, ports, containers.

Takes /proc; gives processes and refusals. Must not know about sampling.
"""
