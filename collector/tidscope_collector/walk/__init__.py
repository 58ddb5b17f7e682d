"""All counters of a process' threads in one walk of the kernel's, checked against taskstats."""
