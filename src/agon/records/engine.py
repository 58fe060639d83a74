"""Start and stop the embedded engine that holds one set of records."""

import shutil
import tempfile
import weakref
from typing import Any


class Engine:
    """A DuckDB connection and the folder it may spill to.

    Closing it removes both; so does the last reference to it.

    Attributes:
        connection: the DuckDB connection; its database lives in memory.
    """

    def __init__(self) -> None:
        import duckdb

        folder = tempfile.mkdtemp(prefix="agon-")
        self.connection: Any = duckdb.connect(
            config={
                "temp_directory": folder,
                # Only installed extensions are used; none is downloaded.
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            }
        )
        self._release = weakref.finalize(self, _release, self.connection, folder)
        self.connection.execute("SET TimeZone = 'UTC'")
        self.connection.execute("SET enable_progress_bar = false")

    def close(self) -> None:
        """Close the connection and remove its folder; a second call does nothing."""
        self._release()


def _release(connection: Any, folder: str) -> None:
    connection.close()
    shutil.rmtree(folder, ignore_errors=True)
