"""Define what the service stores, as plain frozen values."""
