"""Vector search: a vector per passage, computed in the background and compared exactly."""
