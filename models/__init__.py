"""What answers, reads and embeds. Knows nothing of the rooms above."""
