"""Example data that is shipped with agon."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from agon.errors import NotFound, Unavailable, did_you_mean


@dataclass(frozen=True)
class Dataset:
    """Real records that are shipped with agon.

    Attributes:
        folder: the folder with the files.
        format: the format they are imported as (``agon import``).
        credit: what they are and whose, in one line.
    """

    folder: Path
    format: str
    credit: str

    @property
    def attribution(self) -> Path:
        """Return the file with the authors and the licence."""
        return self.folder / "ATTRIBUTION.md"


_DATASETS: Final[Mapping[str, tuple[str, str]]] = {
    "llmfao": (
        "comparisons",
        (
            "LLMFAO: 8,931 votes of 124 crowd workers on answers by 59 language models, "
            "by Dmitry Ustalov, CC BY 4.0"
        ),
    ),
}


def dataset(name: str) -> Dataset:
    """Return a data set that is shipped with agon.

    Raises:
        NotFound: there is none of that name.
        Unavailable: agon was installed without its data.
    """
    if name not in _DATASETS:
        raise NotFound(f"there is no data set {name!r}: {did_you_mean(name, _DATASETS)}")
    data = Dataset(Path(str(files("agon").joinpath("examples", name))), *_DATASETS[name])
    if not data.attribution.is_file():
        raise Unavailable("the example data is missing; install agon again")
    return data


def example_tasks() -> Path:
    """Return the folder with the example tasks, which need the base image of busybox alone.

    Raises:
        Unavailable: agon was installed without its data.
    """
    folder = Path(str(files("agon").joinpath("examples", "tasks")))
    if not folder.is_dir():
        raise Unavailable("the example tasks are missing; install agon again")
    return folder
