"""Loading programs into the kernel, and reading what they give."""
