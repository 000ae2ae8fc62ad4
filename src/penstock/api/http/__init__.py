"""What all routes share: server, middleware, authentication, bodies, errors, OpenAPI."""
