"""Configure the service: one table of settings, found in options, environment and ``agon.toml``.

Every setting is flat and has one name everywhere: ``port`` in ``agon.toml``, ``AGON_PORT`` in the
environment, ``--port`` where a command takes it.

Example:
    >>> from agon.settings import load
    >>> load({"port": 9000}, environ={}, cwd="/nonexistent").port
    9000
"""

from agon.settings.exposure import is_loopback, require_auth_if_public
from agon.settings.keys import load_key
from agon.settings.loading import COMMANDS, Origin, load, origins, toml_file
from agon.settings.table import SETTINGS, Setting, Settings, display_value
from agon.settings.writing import to_toml

__all__ = [
    "COMMANDS",
    "SETTINGS",
    "Origin",
    "Setting",
    "Settings",
    "display_value",
    "is_loopback",
    "load",
    "load_key",
    "origins",
    "require_auth_if_public",
    "to_toml",
    "toml_file",
]
