"""Client of the agent protocol (docs/agents.md).

Takes a process; gives its pools and sets their sizes. Must not know about steering policies.
"""
