"""The prediction service of a host: hashed perceptrons in shared memory.

`client` reads a model without a system call and sends updates; `server` is the daemon, the only
writer. Uses only the standard library and `tidscope_policies.perceptron`, so that any program can
include the client.
"""
