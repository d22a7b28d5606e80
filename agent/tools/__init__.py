"""Tools that a model may call. A tool that changes something, or reads outside of memory, asks first."""
