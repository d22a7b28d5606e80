"""The turn, without a face: everything that a front end may call."""
