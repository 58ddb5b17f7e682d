"""The eBPF programs with which the sampler walks threads, and why it does not walk."""
