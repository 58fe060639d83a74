"""Run untrusted programs with the isolation this machine supports.

:func:`open_sandbox` returns an adapter of :class:`agon.app.sandbox.Sandbox`;
``docs/methods/sandbox.md`` describes the layers of the isolation.
"""

from agon.app.sandbox import Mode, Sandbox


def open_sandbox(mode: Mode = "bwrap", *, workers: int | None = None) -> Sandbox:
    """Open a sandbox: start its workers and test the isolation with hostile programs.

    Args:
        mode: ``bwrap``: namespaces and warm interpreters; ``degraded``: warm interpreters without
            namespaces, for machines that cannot have them; ``cold``: namespaces and a new
            interpreter for each run, slow, for comparison.
        workers: number of programs that run at a time; by default one for each processor.

    Raises:
        Unavailable: this machine does not support the isolation (with the package that is
            missing), or a hostile program escaped.
    """
    from agon.runners.sandbox.isolation import isolation_of

    isolation = isolation_of(mode)  # checked first, because the rest can be imported on Linux only
    from agon.runners.sandbox.pool import Pool

    return Pool(isolation, workers=workers)
