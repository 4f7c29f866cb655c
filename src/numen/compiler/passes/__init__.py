"""Graph passes, pure functions Graph -> Graph, and the schedule that turns a graph into steps.

Listed in order in `compiler/pipeline.py`. Next: `rewrite.py`, then `fuse.py`.
"""
