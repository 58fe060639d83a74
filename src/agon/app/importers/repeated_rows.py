"""Find rows of an imported table that repeat another one in every column that is read."""

from collections.abc import Sequence

from agon.kernel.findings import Finding, Severity
from agon.records import Records
from agon.records.raw import quote

_MAX_NAMED = 5


def repeated_rows(records: Records, table: str, *, by: Sequence[str]) -> tuple[Finding, ...]:
    """Return a finding if rows repeat others, in a table in which rows can be told apart.

    Args:
        records: the rows.
        table: their table.
        by: columns of which one has to have values: without a time or a question, equal rows are
            several results.
    """
    names = [column.name for column in records.schema.table(table).columns]
    named = ", ".join(f"count({quote(name)})" for name in by)
    if not any(records.sql(f"SELECT {named} FROM {quote(table)}").to_pylist()[0].values()):
        return ()
    listed = ", ".join(map(quote, names))
    sql = (
        f"SELECT min(_row) AS first, count(*) AS rows FROM {quote(table)} "
        f"WHERE coalesce({', '.join(f'{quote(name)}::VARCHAR' for name in by)}) IS NOT NULL "
        f"GROUP BY {listed} HAVING count(*) > 1 ORDER BY 1"
    )
    # Hashes are compared first: they are much smaller than the rows.
    hashes = f"SELECT count(*) - count(DISTINCT hash({listed})) AS n FROM {quote(table)}"
    if not records.sql(hashes).to_pylist()[0]["n"]:
        return ()
    groups = records.sql(sql).to_pylist()
    if not groups:
        return ()
    extra = sum(group["rows"] - 1 for group in groups)
    first = tuple(str(group["first"]) for group in groups[:_MAX_NAMED])
    return (
        Finding(
            code="repeated-rows",
            severity=Severity.WARNING,
            subjects=first,
            statistic="rows that repeat another one",
            value=extra,
            expected=0,
            probability=None,
            message=f"{extra:,} row{'s' if extra > 1 else ''} of {table} repeat another one in "
            f"every column that is read (first: row {', '.join(first)}); remove them if one "
            "result was written twice",
        ),
    )
