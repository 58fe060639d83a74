"""Load every setting: from options, else the environment, else ``agon.toml``, else its default."""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import PydanticBaseSettingsSource

from agon.errors import NotFound, Unreadable, did_you_mean
from agon.settings.model_judges import SECTIONS
from agon.settings.table import SETTINGS, Settings, display_value

COMMANDS: Final = (
    "arena", "attack", "cases", "challenge", "check", "compare", "config", "contest", "convert",
    "db", "demo", "dojo", "engines", "explain", "export", "import", "jobs", "plan", "replay",
    "rules", "schema", "score", "serve", "simulate", "token", "user", "webhooks", "worker",
)  # fmt: skip
"""Words after ``AGON_`` in variables that are options of a command, not settings."""

_OTHERS: Final = frozenset(
    {
        "AGON_CONFIG", "AGON_CONTAINER_ENGINE", "AGON_CONTAINER_RUNTIME", "AGON_DEBUG",
        "AGON_SERVER", "AGON_TASK", "AGON_TOKEN",
    }
)  # fmt: skip
_FILES: Final = ("agon.toml", "/etc/agon/agon.toml")
_KEY = re.compile(r"""^\s*["']?([A-Za-z0-9_-]+)["']?\s*=""")
_HEADER = re.compile(r"^\s*\[([\w.-]+)\]\s*(#.*)?$", re.ASCII)
_KEY_VARIABLES: Final = {
    f"{section.replace('.', '_')}_key": f"AGON_{section.replace('.', '_').upper()}_KEY"
    for section in SECTIONS
}
"""Names under which a model's key would be a setting, and the variable that it is read from."""


@dataclass(frozen=True)
class Origin:
    """The value of a setting and where it comes from.

    Attributes:
        name: the setting.
        value: its value as it may be shown (secrets as ``***``).
        source: ``default``, ``agon.toml:3``, ``AGON_PORT`` or ``--port``.
    """

    name: str
    value: Any
    source: str


class _Layer(PydanticBaseSettingsSource):
    """A source of settings: values by name, and the origin of each."""

    def __init__(self, values: Mapping[str, Any], origins: Mapping[str, str]) -> None:
        super().__init__(Settings)
        self.values = values
        self.origins = origins

    def get_field_value(
        self,
        field: FieldInfo,  # noqa: ARG002 (pydantic-settings' signature)
        field_name: str,
    ) -> tuple[Any, str, bool]:
        """Return a field's value as the source has it."""
        return self.values.get(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        """Return all values."""
        return dict(self.values)


def load(
    overrides: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    cwd: str | Path = ".",
) -> Settings:
    """Load the settings: ``overrides`` > ``AGON_…`` > ``agon.toml`` > defaults.

    Args:
        overrides: options of the command line by setting's name; None means not given.
        environ: environment variables; by default this process's own. Empty ones are not set.
        cwd: where a relative ``AGON_CONFIG`` and ``agon.toml`` are looked for.

    Raises:
        NotFound: the file that ``AGON_CONFIG`` names is missing.
        Unreadable: names are unknown or values invalid; all of them are listed, with their origin.
    """
    return _merge(_layers(overrides, environ, cwd))


def origins(
    overrides: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    cwd: str | Path = ".",
) -> list[Origin]:
    """Return each setting with its origin; arguments and errors are those of :func:`load`."""
    layers = _layers(overrides, environ, cwd)
    settings = _merge(layers)
    return [
        Origin(
            name, display_value(name, getattr(settings, name)), _origin(layers, name) or "default"
        )
        for name in SETTINGS
    ]


def toml_file(environ: Mapping[str, str], cwd: str | Path = ".") -> Path | None:
    """Return the settings file: ``AGON_CONFIG``, ``./agon.toml`` or that in ``/etc/agon``, if any.

    Raises:
        NotFound: the file that ``AGON_CONFIG`` names is missing.
    """
    if configured := environ.get("AGON_CONFIG"):
        path = Path(cwd) / configured
        if not path.is_file():
            raise NotFound(f"AGON_CONFIG names {path}, which does not exist; correct it")
        return path
    return next((path for name in _FILES if (path := Path(cwd) / name).is_file()), None)


def _layers(
    overrides: Mapping[str, Any] | None, environ: Mapping[str, str] | None, cwd: str | Path
) -> tuple[_Layer, ...]:
    """Return all sources, highest precedence first; unknown names in any of them are an error."""
    environ = os.environ if environ is None else environ
    options = {name: value for name, value in (overrides or {}).items() if value is not None}
    variables = {name: text for name, text in environ.items() if name.startswith("AGON_") and text}
    path = toml_file(environ, cwd)
    written, lines = ({}, {}) if path is None else _read(path)
    known = {setting.variable: name for name, setting in SETTINGS.items()}
    errors = [
        *(f"{_option(name)} is not a setting; {did_you_mean(name, SETTINGS)}"
          for name in options if name not in SETTINGS),
        *(f"{name} is not a setting; {did_you_mean(name, known)}"
          for name in sorted(variables) if name not in known and not _is_foreign(name)),
        *(f"{lines[name]}: {name} is not a setting; {_remedy(name)}"
          for name in written if name not in SETTINGS),
    ]  # fmt: skip
    if errors:
        raise Unreadable("\n".join(errors))
    used = {name: variable for variable, name in known.items() if variable in variables}
    return (
        _Layer(options, {name: _option(name) for name in options}),
        _Layer({name: variables[variable] for name, variable in used.items()}, used),
        _Layer(written, lines),
    )


def _remedy(name: str) -> str:
    variable = _KEY_VARIABLES.get(name)
    if variable is None:
        return did_you_mean(name, SETTINGS)
    return f"set the environment variable {variable}, and remove the key from the file"


def _is_foreign(variable: str) -> bool:
    """Return whether an ``AGON_…`` variable is an option of a command, or of another part."""
    if any(variable.startswith(name.removesuffix("KEY")) for name in _KEY_VARIABLES.values()):
        return variable in _KEY_VARIABLES.values()
    return variable in _OTHERS or variable.startswith(
        tuple(f"AGON_{word.upper()}_" for word in COMMANDS)
    )


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _read(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the values in a TOML file, and the origin (``agon.toml:3``) of each."""
    try:
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Unreadable(f"{path} is not TOML: {error}; correct it there") from None
    flat = dict(_flat(values))
    numbers = _line_numbers(text)
    return flat, {
        name: f"{path}:{numbers[name]}" if name in numbers else str(path) for name in flat
    }


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of a TOML file and its tables, named as settings: ``arena_judge_url``."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}_")
        else:
            yield f"{prefix}{name}", value


def _line_numbers(text: str) -> dict[str, int]:
    """Return the line of each setting in a TOML file."""
    numbers, prefix = {}, ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            prefix = header[1].replace(".", "_") + "_"
        elif key := _KEY.match(line):
            numbers[prefix + key[1]] = number
    return numbers


def _origin(layers: tuple[_Layer, ...], name: str) -> str | None:
    return next((layer.origins[name] for layer in layers if name in layer.origins), None)


def _merge(layers: tuple[_Layer, ...]) -> Settings:
    sources: dict[str, Any] = {"_build_sources": (layers, {})}  # the first has precedence
    try:
        return Settings(**sources)
    except ValidationError as error:
        raise Unreadable("\n".join(_messages(error, layers))) from None


def _messages(invalid: ValidationError, layers: tuple[_Layer, ...]) -> Iterator[str]:
    """Yield a message for each invalid setting: origin, name, value and what is expected."""
    reported = set()
    for error in invalid.errors(include_url=False):
        cause = (error.get("ctx") or {}).get("error")
        if not error["loc"]:
            yield str(cause or error["msg"])
            continue
        name = str(error["loc"][0])
        if name in reported:
            continue
        reported.add(name)
        value = next(layer.values[name] for layer in layers if name in layer.values)
        remedy = str(cause) if cause is not None else f"write {SETTINGS[name].bounds}"
        yield f"{_origin(layers, name)}: {name} cannot be {display_value(name, value)!r}; {remedy}"
