"""People in the database: accounts and tokens, members, invitations, names."""
