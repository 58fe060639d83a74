"""Start a Sail server in this process, for a session on it."""

import os
from typing import Any

from agon.engines.spark import SparkConnect
from agon.engines.spark_errors import answers
from agon.engines.spark_sql import rows_of


class Sail(SparkConnect):
    """A session on a Sail server, which computes the rows of a view where they are read."""

    def divide(self, name: str, expression: Any, *, by: str) -> None:  # noqa: ARG002 - as the base
        """Name the rows of an expression."""
        self.keep(name, expression)

    def keep(self, name: str, expression: Any) -> None:
        """Name the rows of an expression."""
        with answers(self.name):
            self._name(rows_of(expression, self._session), name)


def start_sail() -> Sail:
    """Start a Sail server on loopback, and return a session on it."""
    os.environ.setdefault("RUST_LOG", "error")
    # The server ends with its session; by default it ends sessions that are idle for some minutes.
    os.environ.setdefault("SAIL_SPARK__SESSION_TIMEOUT_SECS", str(365 * 86_400))
    from pysail.spark import SparkConnectServer

    server = SparkConnectServer(ip="127.0.0.1", port=0)
    server.start(background=True)
    host, port = server.listening_address
    return Sail(f"sc://{host}:{port}", stop=server.stop)
