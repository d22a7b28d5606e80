"""What answers: one port, and a file a provider."""
