"""Files that numen reads and writes. They hold data, never code.

Each format is a module over NumPy arrays: `safetensors` (weights). Writing goes through
`atomic.py`.
"""
