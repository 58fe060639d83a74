"""Explain why this machine refuses user namespaces, and what can be done about it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

_REFUSED: Final = re.compile(
    r"bwrap: .*(namespace|uid map|gid map|setting up|Operation not permitted|Permission denied)"
)
"""How bubblewrap complains where namespaces are refused; all else has another cause."""

_SETTINGS: Final = (
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "AppArmor denies user namespaces to programs without a profile, as in Ubuntu 24.04",
    ),
    (
        "kernel/unprivileged_userns_clone",
        "0",
        "the kernel denies them to ordinary users (kernel.unprivileged_userns_clone is 0)",
    ),
    ("user/max_user_namespaces", "0", "the machine allows none (user.max_user_namespaces is 0)"),
)
_CONTAINER: Final = "a container's security profile probably denies them"
_DEGRADED: Final = "use the degraded sandbox without them: --mode degraded"
_ALLOW: Final = (
    "allow them for bwrap (an AppArmor profile with userns, or the container's security options: "
    "docs/methods/sandbox.md)"
)


def remedy(complaint: str, *, read: Callable[[str], str | None] | None = None) -> str:
    """Return the cause of a sandbox that does not start, as far as it is known, and both ways out.

    Args:
        complaint: what was written on stderr.
        read: returns the content of a file below ``/proc/sys``; None where there is none.

    Example:
        >>> restricted = {"kernel/apparmor_restrict_unprivileged_userns": "1"}
        >>> text = remedy("bwrap: setting up uid map: Permission denied", read=restricted.get)
        >>> text.startswith("AppArmor denies user namespaces")
        True
    """
    if not _REFUSED.search(complaint):
        return f"where namespaces are unavailable, {_DEGRADED}"
    value_of = read or _setting
    causes = [cause for name, value, cause in _SETTINGS if value_of(name) == value]
    return f"{causes[0] if causes else _CONTAINER}; {_ALLOW}, or {_DEGRADED}"


def _setting(name: str) -> str | None:
    try:
        return Path("/proc/sys", name).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
