"""Models that chat, read images and embed text. Knows nothing of the packages above."""
