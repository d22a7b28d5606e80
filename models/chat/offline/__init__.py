"""What answers without a model: the words of memory, quoted."""
