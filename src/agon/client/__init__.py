"""Clients of the API: over HTTP (:class:`Client`), or with direct access (``agon.client.local``).

Example:
    >>> from agon.client import Client
    >>> with Client("http://127.0.0.1:8080") as client:
    ...     client.url
    'http://127.0.0.1:8080'
"""

from agon.client.client import Api, Client

__all__ = ["Api", "Client"]
