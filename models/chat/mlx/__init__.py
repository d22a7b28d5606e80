"""Models that run in this process, on MLX."""
