"""Memory in the log of a trainer: transformers.MemoryCallback, lightning.MemoryCallback,
accelerate.MemoryLog. docs/python/callbacks.md.

A framework is imported when its callback is made.
"""
