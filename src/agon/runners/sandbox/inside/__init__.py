"""The code inside the sandbox: the only part of agon that shares a process with a program.

These modules import each other and the standard library, but nothing else of agon: they are mounted
in the sandbox as the package ``inside``.
"""
