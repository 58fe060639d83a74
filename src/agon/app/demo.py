"""Build a complete example: records of all four disciplines, one of them real, and score them."""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from agon.app.analysis.score import Result, read_records, score
from agon.app.analysis.simulate import TRUTH, simulate
from agon.app.dojo.example import example_problems, judge_example
from agon.app.examples import LLMFAO_CREDIT, llmfao
from agon.app.importers import import_records
from agon.app.sandbox import Sandbox
from agon.errors import Conflict, Unavailable
from agon.records.writing import write_tables

_MARK = "agon-demo.txt"

OpenSandbox = Callable[[], Sandbox]
_Made = tuple[Mapping[str, pa.Table], Mapping[str, pa.Table], str]
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Exhibit:
    """Hold one discipline's example.

    Attributes:
        discipline: which one.
        source: the database file its records are in.
        origin: where they come from, in one sentence.
        result: the scored records.
    """

    discipline: str
    source: Path
    origin: str
    result: Result


@dataclass(frozen=True)
class _Recipe:
    discipline: str
    size: int = 0
    seed: int = 1
    attacks: tuple[str, ...] = ()

    def made(self) -> _Made:
        """Return the tables, the truth beside them, and where they come from."""
        if not self.size:
            imported = import_records("comparisons", llmfao())
            return imported.tables, {}, f"real data: {LLMFAO_CREDIT}"
        made = simulate(self.discipline, size=self.size, seed=self.seed, attacks=self.attacks)
        among = f", among them {', '.join(self.attacks)}" if self.attacks else ""
        return made.tables, made.truth, f"simulated, seed {self.seed}{among}"


_RECIPES = (
    _Recipe("community", size=150, attacks=("self-feedback", "reciprocal-ring")),
    _Recipe("challenge", size=6_000, attacks=("self-serving-validator", "copied-agent")),
    _Recipe("dojo", size=400, attacks=("copied-source", "tag-farming")),
    _Recipe("arena"),
)


def demonstrate(
    folder: Path,
    *,
    open_sandbox: OpenSandbox | None = None,
    progress: Progress = lambda _: None,
) -> Iterator[Exhibit]:
    """Build the example in a folder and give the disciplines' exhibits one by one, scored.

    With a sandbox the dojo's programs are run for real; without, or where there is none to be had,
    its season is simulated. The folder gets ``<discipline>.duckdb`` (the records in the embedded
    database) and ``<discipline>/`` (the same as Parquet, the truth of simulated ones in
    ``truth/``). It appears when all of it is built; an earlier demo there is replaced.

    Raises:
        Conflict: the folder holds something else.
    """
    if folder.exists() and not (folder / _MARK).is_file() and any(folder.iterdir()):
        raise Conflict(f"{folder} is there and is no demo; give another folder with --dir")
    building = folder.with_name(f".{folder.name}.building")
    shutil.rmtree(building, ignore_errors=True)
    try:
        building.mkdir(parents=True)
        origins = {}
        for recipe in _RECIPES:
            progress(f"building {recipe.discipline}")
            made = _made(recipe, open_sandbox, progress)
            origins[recipe.discipline] = _build(recipe.discipline, building, *made)
        text = "".join(f"{name}: {origin}\n" for name, origin in origins.items())
        (building / _MARK).write_text(f"Made by agon demo.\n{text}", encoding="utf-8")
        shutil.copy(llmfao() / "ATTRIBUTION.md", building / "arena" / "ATTRIBUTION.md")
        shutil.rmtree(folder, ignore_errors=True)
        building.rename(folder)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    for recipe in _RECIPES:
        progress(f"scoring {recipe.discipline}")
        source = folder / f"{recipe.discipline}.duckdb"
        yield Exhibit(
            recipe.discipline, source, origins[recipe.discipline], score(recipe.discipline, source)
        )


def _made(recipe: _Recipe, open_sandbox: OpenSandbox | None, progress: Progress) -> _Made:
    if recipe.discipline != "dojo" or open_sandbox is None:
        return recipe.made()
    try:
        with open_sandbox() as sandbox:
            return _judged(sandbox, progress)
    except Unavailable as missing:
        tables, truth, origin = recipe.made()
        return tables, truth, f"{origin}; nothing could be run here ({missing})"


def _judged(sandbox: Sandbox, progress: Progress) -> _Made:
    """Run the example season's programs; return the records of it, and how they were made."""
    with tempfile.TemporaryDirectory(prefix="agon-demo-") as folder:
        season = Path(folder) / "season"
        runs = judge_example(season, sandbox, progress=progress)
        records = read_records("dojo", season)
        tables = {name: records.arrow(name) for name in ("problems", "submissions")}
    wall = "" if sandbox.mode == "bwrap" else ", without namespaces, which this machine cannot have"
    origin = (
        f"real runs: {runs} programs for {len(example_problems())} sequences, judged just now in "
        f"the sandbox (mode {sandbox.mode}{wall})"
    )
    return tables, {}, origin


def _build(
    discipline: str,
    building: Path,
    tables: Mapping[str, pa.Table],
    truth: Mapping[str, pa.Table],
    origin: str,
) -> str:
    beside = {f"{TRUTH}/{name}": table for name, table in truth.items()}
    write_tables({**tables, **beside}, building / discipline)
    _into_database(tables, building / f"{discipline}.duckdb")
    return origin


def _into_database(tables: Mapping[str, pa.Table], file: Path) -> None:
    """Write tables into a new file of the embedded database."""
    import duckdb

    with duckdb.connect(str(file)) as database:
        for name, table in tables.items():
            database.register("given", table)
            database.execute(f'CREATE TABLE "{name}" AS SELECT * FROM given')
            database.unregister("given")
