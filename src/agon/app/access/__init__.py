"""Access control: users, tokens, roles and the audit log."""
