"""The extras of agon: which one installs an optional package."""

import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from types import MappingProxyType, ModuleType
from typing import Final

from agon.errors import Unavailable

EXTRAS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "serve": (
            "alembic", "argon2", "cryptography", "fastapi", "httpcore2", "httpx2", "jinja2",
            "limits", "multipart", "prometheus_client", "pydantic_settings", "python_multipart",
            "sqlalchemy", "starlette", "structlog", "uvicorn",
        ),
        "plots": ("resvg_py",),
        "postgres": ("adbc_driver_manager", "adbc_driver_postgresql", "psycopg"),
        "sail": ("pysail", "pyspark"),
        "ibis": ("ibis",),
        "pandas": ("pandas",),
        "polars": ("polars",),
        "xlsx": ("python_calamine",),
        "bittensor": ("bittensor",),
    }
)  # fmt: skip
"""The top-level modules that each extra installs."""


def missing_extra(error: ModuleNotFoundError) -> Unavailable | None:
    """Return the error that names the extra of a missing module; None: it is of no extra.

    Example:
        >>> str(missing_extra(ModuleNotFoundError(name="sqlalchemy.orm")))
        "this needs the package sqlalchemy: pip install 'agon-engine[serve]'"
        >>> missing_extra(ModuleNotFoundError(name="agon.typo")) is None
        True
    """
    module = (error.name or "").partition(".")[0]
    for extra, modules in EXTRAS.items():
        if module in modules:
            return _unavailable(module, extra)
    return None


def extra_not_installed(extra: str) -> Unavailable | None:
    """Return the error that names an extra of which a package is missing; None: none is.

    A command that needs an extra at its end asks before it begins.
    """
    for module in EXTRAS[extra]:
        if find_spec(module) is None:
            return _unavailable(module, extra)
    return None


def hide_pandas() -> None:
    """Hide pandas from this process, except from PySpark, which requires it.

    pyarrow imports it at its first conversion whenever it is installed, which takes longer than
    scoring a small contest; neither commands nor servers handle data frames.
    """
    sys.meta_path.insert(0, _NoPandas())


class _NoPandas:
    """A finder that finds no pandas."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002 (importlib's signature)
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> None:
        """Raise ModuleNotFoundError for pandas; leave other modules to later finders."""
        if fullname == "pandas" and "pyspark" not in sys.modules:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


def _unavailable(module: str, extra: str) -> Unavailable:
    return Unavailable(f"this needs the package {module}: pip install 'agon-engine[{extra}]'")
