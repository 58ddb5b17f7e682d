"""Which threads a process has, and which of them have run."""
