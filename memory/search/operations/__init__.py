"""The ways to search, each a function with typed arguments: for commands, programs and a model's tools."""
