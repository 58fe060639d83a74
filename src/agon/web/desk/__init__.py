"""The desks: what organizers do with a contest, and operators with the server."""
