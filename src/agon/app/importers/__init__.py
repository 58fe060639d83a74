"""Convert other formats to records; each module is one format."""

from agon.app.importers.formats import FORMATS, Format, format_of_frame, import_records
from agon.app.importers.imported_records import ImportedRecords

__all__ = ["FORMATS", "Format", "ImportedRecords", "format_of_frame", "import_records"]
