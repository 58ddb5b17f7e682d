"""The eBPF program that counts network bytes of threads, and which source is in effect."""
