"""Targets: processes and groups that are sampled, and their sources of samples.

Takes attach and detach requests; gives targets and samplers. Must not know how requests arrive.
"""
