"""The site: pages of contests for browsers, rendered by the server and complete without scripts."""
