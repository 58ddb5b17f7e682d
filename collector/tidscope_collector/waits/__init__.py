"""The eBPF programs of ledgers, and the names and tables that Python adds to their counts."""
