"""Devices, threads, memory, native code: what runs numbers. Knows no op and no Array.

The compiler hands LLVM IR text to `native.py` and gets addresses back; it puts those into a
`plan.Plan`, whose `run` makes one native call for a whole list of launches. Read `plan.py` first,
then `executor.py` and `threads.py`.
"""
