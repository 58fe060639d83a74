"""Drop privileges: become a user without files or capabilities that cannot gain any."""

import contextlib
import os

from . import system

NOBODY = 65534


def drop_privileges() -> bool:
    """Drop root (if this process has it), every capability and every way to gain new ones.

    Root first becomes another user permanently, then enters a new user namespace where the
    kernel allows it; no user in it maps to a user outside.

    Returns:
        Whether this process is now in a user namespace that it created.
    """
    own_namespace = False
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        with contextlib.suppress(OSError):
            system.syscall(system.SYS_UNSHARE, system.CLONE_NEWUSER)
            own_namespace = True
    system.drop_capabilities()
    system.prctl(system.PR_SET_NO_NEW_PRIVS, 1)
    return own_namespace
