"""The engines, and whether one can read a source."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agon.errors import Conflict, NotFound, Unavailable, Unreadable, did_you_mean
from agon.records import Records

if TYPE_CHECKING:
    from agon.records.relational import TableEngine

_POSTGRESQL: Final = ("postgresql://", "postgres://")
_CONNECT: Final = "sc://"
_WITHOUT_CONNECT: Final = re.compile(r"spark(://.*)?|local(\[.*\])?", re.DOTALL)


@dataclass(frozen=True)
class Engine:
    """An engine.

    Attributes:
        name: the name in ``--engine``.
        tier: ``gated``: the tests run it at every change, and compare its boards' hashes.
        reads: the sources it reads.
        package: the package that it needs.
        install: the command that installs the package.
        also: further packages that it needs.
        counts: whether the tables stay in it, and only counts come back.
    """

    name: str
    tier: str
    reads: str
    package: str
    install: str
    also: tuple[str, ...] = ()
    counts: bool = False

    @property
    def version(self) -> str | None:
        """Return the version of the package; None: it, or another one, is not installed."""
        from importlib.metadata import PackageNotFoundError, version  # takes 0.03 s

        try:
            versions = [version(package) for package in (self.package, *self.also)]
        except PackageNotFoundError:
            return None
        return versions[0]

    def to_dict(self) -> dict[str, str | bool | None]:
        """Return the engine as plain values."""
        return {
            "engine": self.name,
            "installed": self.version is not None,
            "version": self.version and f"{self.package} {self.version}",
            "tier": self.tier,
            "reads": self.reads,
            "install": self.install,
        }


ENGINES: Final = (
    Engine(
        "embedded",
        "gated",
        "folders, files and data frames on one machine; postgresql://…",
        "duckdb",
        "pip install agon-engine",
    ),
    Engine(
        "postgres",
        "gated",
        "postgresql://…, in place: one read-only snapshot",
        "adbc-driver-postgresql",
        "pip install 'agon-engine[postgres]'",
    ),
    Engine(
        "sail",
        "gated",
        "folders of Parquet files; boards of community, and of bots in arena",
        "pysail",
        "pip install 'agon-engine[sail]'",
        also=("pyspark-client", "ibis-framework"),
        counts=True,
    ),
    Engine(
        "sc://host:port",
        "gated",
        "the same, on a Spark Connect server that sees the folder under the same path",
        "pyspark-client",
        "pip install 'agon-engine[sail]'",
        also=("ibis-framework",),
        counts=True,
    ),
)
"""Every engine; the first one is the default."""


def require_engine(name: str | None, source: Any) -> Engine:
    """Return the engine of a name that can read a source.

    Args:
        name: the engine's name; None: the one for the source.
        source: what :func:`agon.read_records` reads, or records that are read already.

    Raises:
        NotFound: there is no such engine.
        Unavailable: it is not installed, or it is a cluster without Spark Connect.
        Conflict: it cannot read the source.

    Example:
        >>> require_engine(None, "data/").name, require_engine("postgres", "postgresql://x").name
        ('embedded', 'postgres')
    """
    engines = {engine.name: engine for engine in ENGINES}
    place = source.source if isinstance(source, Records) else source
    in_postgresql = isinstance(place, str) and place.startswith(_POSTGRESQL)
    if name is None:  # a missing package is then reported where it is used
        return engines["postgres" if in_postgresql else "embedded"]
    if _WITHOUT_CONNECT.fullmatch(name):
        raise Unavailable(
            f"agon speaks Spark Connect only, got --engine {name}; start Spark's Connect server on "
            "the cluster (sbin/start-connect-server.sh), and give --engine sc://host:15002"
        )
    if not name.startswith(_CONNECT) and name not in engines:
        raise NotFound(f"there is no engine {name!r}: {did_you_mean(name, engines)}")
    engine = ENGINES[-1] if name.startswith(_CONNECT) else engines[name]
    if engine.name == "postgres" and not in_postgresql:
        raise Conflict(
            "the engine postgres reads tables of a PostgreSQL database, got another source; give "
            f"postgresql://user@host/database, or the engine {ENGINES[0].name}"
        )
    if engine.counts and (in_postgresql or not isinstance(place, str | Path)):
        raise Conflict(
            f"the engine {engine.name} reads folders of Parquet files, got another source; write "
            f"the records as Parquet, or use the engine {ENGINES[0].name}"
        )
    if engine.version is None:
        raise Unavailable(f"the engine {engine.name} is not installed: {engine.install}")
    return engine


def open_tables(name: str) -> "TableEngine":
    """Return a session on an engine in which the tables stay.

    Args:
        name: ``sail``, or ``sc://host:port``.

    Raises:
        Unreadable: the address has a token.
        Unavailable: the server does not answer.
    """
    from agon.engines.sail import start_sail
    from agon.engines.spark import SparkConnect

    if "token=" in name:
        raise Unreadable(
            "a token in an address is visible to others; give it in the environment as "
            "SPARK_CONNECT_AUTHENTICATE_TOKEN"
        )
    return SparkConnect(name) if name.startswith(_CONNECT) else start_sail()
