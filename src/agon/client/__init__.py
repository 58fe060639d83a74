"""Talk to a house: over HTTP (:class:`Client`), or beside its database (``agon.client.local``).

Example:
    >>> from agon.client import Client
    >>> with Client("http://127.0.0.1:8080") as client:
    ...     client.url
    'http://127.0.0.1:8080'
"""

from agon.app.access.tokens import Grant
from agon.app.contests.lifecycle.creation import NewContest
from agon.client.client import Client
from agon.client.ports import House

__all__ = ["Client", "Grant", "House", "NewContest"]
