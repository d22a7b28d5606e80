"""Readers, a module for each kind of file: from its bytes to its text with the places in the file."""
