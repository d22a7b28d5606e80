"""Programs measured in a pseudo-terminal, and the model server that they talk to."""
