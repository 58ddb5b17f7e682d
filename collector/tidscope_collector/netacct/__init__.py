"""Network bytes of each thread, counted by an eBPF program on a stock kernel."""
