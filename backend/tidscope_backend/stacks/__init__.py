"""Stacks: takes samples of stays, gives flame graphs in exact seconds of the ledger.

Live targets and recorded runs answer alike. The estimates are pure; docs/stacks.md explains them.
"""
