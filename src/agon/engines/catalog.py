"""The engines, and whether one can read a source."""

import re
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from agon.errors import Conflict, NotFound, Unavailable, did_you_mean
from agon.records import Records

_POSTGRESQL: Final = ("postgresql://", "postgres://")
_CLUSTER: Final = re.compile(r"sc://.*|spark(://.*)?|sail|local\[.*\]", re.DOTALL)


@dataclass(frozen=True)
class Engine:
    """An engine.

    Attributes:
        name: the name in ``--engine``.
        tier: ``gated``: the tests run it at every change, and compare its boards' hashes.
        reads: the sources it reads.
        package: the package that it needs.
        install: the command that installs the package.
    """

    name: str
    tier: str
    reads: str
    package: str
    install: str

    @property
    def version(self) -> str | None:
        """Return the version of the package; None: it is not installed."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None

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
)
"""Every engine; the first one is the default."""


def require_engine(name: str | None, source: Any) -> Engine:
    """Return the engine of a name that can read a source.

    Args:
        name: the engine's name; None: the one for the source.
        source: what :func:`agon.read_records` reads, or records that are read already.

    Raises:
        NotFound: there is no such engine.
        Unavailable: it is not installed, or it is a cluster.
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
    if name not in engines and _CLUSTER.fullmatch(name):
        raise Unavailable(
            f"this version of agon runs on no cluster, got --engine {name}; give a folder of the "
            f"tables as Parquet files and --engine {ENGINES[0].name}"
        )
    if name not in engines:
        raise NotFound(f"there is no engine {name!r}: {did_you_mean(name, engines)}")
    engine = engines[name]
    if engine.name == "postgres" and not in_postgresql:
        raise Conflict(
            "the engine postgres reads tables of a PostgreSQL database, got another source; give "
            f"postgresql://user@host/database, or the engine {ENGINES[0].name}"
        )
    if engine.version is None:
        raise Unavailable(f"the engine {name} is not installed: {engine.install}")
    return engine
