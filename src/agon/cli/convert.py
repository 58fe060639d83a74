"""``agon convert``: any source of records to files in any format."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agon.cli.import_records import write_imported
from agon.cli.shared import parameters, sources
from agon.cli.shared.commands import Command
from agon.cli.shared.output import require_new_folder

if TYPE_CHECKING:
    from agon.app.analysis.options import SourceOptions
    from agon.records.writing import TableFormat


@click.command("convert", cls=Command)
@parameters.discipline
@parameters.source
@sources.reading
@parameters.out(required=True)
@parameters.file_form
@parameters.dry_run
def command(
    discipline: str,
    source: str,
    *,
    reads: "SourceOptions",
    out: Path,
    form: "TableFormat",
    dry_run: bool,
) -> None:
    """Write the records of SOURCE into the new folder DIR, in normal form.

    SOURCE is all that agon score reads: a folder, a file, a database. Names are those of the
    schema, values are in its types, times are in UTC. The result has the same hash as SOURCE.

      agon convert community postgresql://localhost/site --out data
      agon convert arena battles.csv --mapping names.toml --out data --format ndjson
    """
    from agon.app.analysis.records import convert_records
    from agon.cli.shared.output import working

    require_new_folder(out)
    with working("reading"):
        converted = convert_records(discipline, source, **reads)
    write_imported(converted, out, form=form, dry_run=dry_run)
