"""Pools of workers in targets: what they did, as agents or the programs themselves report it."""
