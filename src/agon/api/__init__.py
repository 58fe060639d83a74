"""The operations of the API, declared once: HTTP routes, OpenAPI and both clients follow."""
