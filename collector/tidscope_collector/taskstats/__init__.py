"""Genetlink taskstats: what this kernel answers, and the sockets that the sampler asks with."""
