"""Which hosts may be reached, and how many calls a provider is sent. Pure."""
