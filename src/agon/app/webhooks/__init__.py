"""Tell others over HTTP what happened: signed, logged, and never to a private address."""
