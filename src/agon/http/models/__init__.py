"""Name the forms of requests and answers; what a request has beyond its form is refused."""
