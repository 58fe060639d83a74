"""Run programs that nobody trusts, behind the walls this machine can give.

:func:`open_sandbox` is the door; what it returns keeps the contract of
:class:`agon.app.sandbox.Sandbox`. ``docs/methods/sandbox.md`` says what the walls are made of.
"""

from agon.app.sandbox import Mode, Sandbox


def open_sandbox(mode: Mode = "bwrap", *, workers: int | None = None) -> Sandbox:
    """Open a sandbox: start its workers and try the wall with hostile programs.

    Args:
        mode: ``bwrap``: namespaces and warm interpreters; ``degraded``: warm interpreters without
            namespaces, for machines that cannot have them; ``cold``: namespaces and a new
            interpreter for each job, slow, for comparison.
        workers: how many programs run at a time; by default one for each processor.

    Raises:
        Unavailable: when this machine cannot have the wall (with the package that is missing), or
            when a hostile program gets through it.
    """
    from agon.runners.sandbox.walls import wall

    built = wall(mode)  # first: elsewhere than on Linux the rest cannot even be imported
    from agon.runners.sandbox.pool import Pool

    return Pool(built, workers=workers)
