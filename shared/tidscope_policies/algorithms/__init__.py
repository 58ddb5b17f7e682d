"""Policies, one file a family, and the models that several of them share.

Takes observations, gives decisions. Must not know decorators, proofs or the registry.
"""
