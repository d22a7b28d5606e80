"""What was meant, beside what was said: a vector a passage, made in the background and compared exactly."""
