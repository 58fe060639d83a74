"""Change rules or records of a contest: propose, dry-run, apply, roll back."""
