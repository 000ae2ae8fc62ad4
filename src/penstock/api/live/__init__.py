"""Events as they happen: polling, server-sent events and web sockets."""
