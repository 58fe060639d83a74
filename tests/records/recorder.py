"""A connection to the engine that records the statements it passes on."""

from typing import Any


class Recorder:
    """Passes everything on to a connection, and records the SQL of :meth:`execute`."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.statements: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, sql: str, *parameters: Any) -> Any:
        """Run statements, each of which is recorded."""
        self.statements += [one.query for one in self._connection.extract_statements(sql)]
        return self._connection.execute(sql, *parameters)
