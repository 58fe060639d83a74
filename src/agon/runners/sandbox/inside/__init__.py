"""The code inside the sandbox: the only one of agon that shares a process with a program.

These modules import each other, the standard library and nothing else of agon: they are bound
into the sandbox as a package of their own, ``inside``.
"""
