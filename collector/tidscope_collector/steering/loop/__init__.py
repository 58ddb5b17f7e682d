"""Control loop of one target: its knob, its signal, its limits and its peers.

Takes a ready policy and an opened setup; gives sizes and events. Must not know commands or groups.
"""
