"""Define a row of the table of settings: default, bounds and meaning."""

from typing import Any

from pydantic import Field

from agon.errors import Unavailable

try:
    from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict
except ModuleNotFoundError:
    raise Unavailable(
        "settings belong to the service; install it: pip install 'agon-engine[serve]'"
    ) from None

__all__ = ["BaseSettings", "PydanticBaseSettingsSource", "SettingsConfigDict", "setting"]


def setting(
    default: Any,
    meaning: str,
    *,
    bounds: str = "",
    low: float | None = None,
    high: float | None = None,
    secret: bool = False,
    validate_default: bool = True,
) -> Any:
    """Return one row of the table; ``bounds`` in words is required without numeric bounds.

    A default is validated at each start unless that loads a library (a test validates it then).
    """
    extra: dict[str, Any] = {"secret": secret, "bounds": bounds}
    return Field(
        default, description=meaning, ge=low, le=high, json_schema_extra=extra,
        validate_default=validate_default,
    )  # fmt: skip
