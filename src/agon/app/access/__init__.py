"""Say who may do what: users, tokens, roles."""
