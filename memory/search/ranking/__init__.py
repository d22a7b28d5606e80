"""From a question to what answers it, in order."""
