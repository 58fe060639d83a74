"""Hold the revisions, one file each."""
