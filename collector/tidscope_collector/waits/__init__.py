"""What threads wait for: a ledger of each thread's states, by eBPF."""
