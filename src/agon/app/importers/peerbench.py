"""Import PeerBench's own tables as community records.

Read are the tables PeerBench stores, by its own names: ``auth.users`` (in a folder
``auth.users.csv``, ``auth_users.csv`` or ``users.csv``; likewise with other endings),
``org_to_people``, ``prompt_sets``, ``prompts``, ``hash_registrations``, ``prompt_set_prompts``,
``provider_models``, ``responses``, ``scores``, ``quick_feedbacks``, ``user_role_on_prompt_set``,
``prompt_comments``, ``response_comments`` and ``score_comments``. The import makes the joins: a
prompt gets its uploader, a response its model's slug, and the three kinds of comments become one
table.

A community can also be scored directly in its database: ``agon score community postgresql://…``.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from agon.disciplines import ImportedRecords, discipline
from agon.errors import Unreadable
from agon.records import Records
from agon.records import read as read_records
from agon.records.names.mapping import NO_MAPPING, SourceMapping

_COMMENTS = ("comments", "prompt_comments", "response_comments", "score_comments")
_AUTH_USERS = re.compile(r"^auth[ ._-]?users(?=\.)", re.IGNORECASE)
_JOINED = {"hash_registrations", "provider_models", *_COMMENTS}

_PROMPTS = """
SELECT p.* REPLACE (coalesce(p.uploader_id, h.uploader_id) AS uploader_id)
FROM prompts p LEFT JOIN hash_registrations h
ON h.cid = p.hash_cid_registration AND h.sha256 = p.hash_sha256_registration
ORDER BY p._row
"""

_RESPONSES = """
SELECT r.* REPLACE (coalesce(r.model, m.model, m.name) AS model)
FROM responses r LEFT JOIN provider_models m ON m.id = r.model_id ORDER BY r._row
"""

_RESOLVED = {
    "prompts": (_PROMPTS, ("hash_cid_registration", "hash_sha256_registration")),
    "responses": (_RESPONSES, ("model_id",)),
}
"""Tables that are joined by the import, and the columns that only the join needs."""


def read(source: str, *, mapping: SourceMapping = NO_MAPPING) -> ImportedRecords:
    """Read PeerBench's tables, from any source of records, as community records.

    Raises:
        InvalidRecords: with all issues.
        NotFound, Unreadable, Unavailable: the source cannot be opened.
    """
    with _open_records(source, mapping) as records:
        return ImportedRecords("community", _tables(records), records.notes, records.names)


def _tables(records: Records) -> dict[str, pa.Table]:
    tables = {}
    for table in records.schema:
        if not records.has(table.name) or table.name in _JOINED:
            continue
        query, joined_by = _RESOLVED.get(table.name, ("", ()))
        rows = records.sql(query) if query else records.arrow(table.name)
        needed = {column.name for column in table.columns if column.required}
        columns = [
            name
            for name in rows.column_names
            if name in needed
            or (name not in {"_row", *joined_by} and rows[name].null_count < rows.num_rows)
        ]
        tables[table.name] = rows.select(columns)
    comments = [name for name in _COMMENTS if records.has(name)]
    if comments:
        # Ids of PeerBench's comments are unique within a kind only, so they are not read.
        union = " UNION ALL ".join(
            f"SELECT {'id' if name == 'comments' else 'NULL'} AS id, user_id, created_at, "
            f"{index} AS kind, _row FROM {name}"
            for index, name in enumerate(comments)
        )
        joined = records.sql(f"SELECT id, user_id, created_at FROM ({union}) ORDER BY kind, _row")
        has_ids = joined["id"].null_count < len(joined)
        tables["comments"] = joined if has_ids else joined.drop_columns("id")
    return tables


@contextmanager
def _open_records(source: str, mapping: SourceMapping) -> Iterator[Records]:
    """Return validated records; in a folder the users' file may be called ``auth.users.csv``."""
    schema = discipline("community").schema
    folder = Path(source)
    with TemporaryDirectory(prefix="agon-import-") as linked:
        if folder.is_dir():
            for file in sorted(folder.iterdir()):
                link = Path(linked, _AUTH_USERS.sub("users", file.name))
                if link.is_symlink():
                    raise Unreadable(
                        f"{folder}: {link.resolve().name} and {file.name} hold the same table; "
                        "keep one of them"
                    )
                link.symlink_to(file.resolve())
            source = linked
        records = read_records(schema, source, mapping=mapping)
        try:
            yield records
        finally:
            records.close()
