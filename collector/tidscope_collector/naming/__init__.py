"""Names of threads beyond the kernel's 15 bytes: those that a program's own runtime knows."""
