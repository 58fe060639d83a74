"""Send events to webhooks over HTTP: signed, logged, and never to a private address."""
