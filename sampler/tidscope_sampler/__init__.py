"""The sampler, in Rust: reads threads, compares them, makes frames.

Takes descriptors that Python has opened, and what Python decides; gives frames and events. It knows
neither commands nor connections. `native.pyi` says what it has.
"""
