"""Live frames to subscribers: a bounded history, and a bounded, coalescing queue per subscriber.
Must not know collectors.
"""
