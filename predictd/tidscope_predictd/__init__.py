"""The prediction service of a host: hashed perceptrons in shared memory.

`client` reads a model without a system call and sends what was learnt; `server` is the daemon, the
only writer. Uses the standard library and `tidscope_policies.perceptron` alone, for any program.
"""
