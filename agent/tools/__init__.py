"""Tools that a model may call. Whatever changes something, or reads outside of memory, asks first."""
