"""The chat model that answers: one port, a package for each provider, and what HTTP providers share."""
