"""From text to the terms that it is found by."""
