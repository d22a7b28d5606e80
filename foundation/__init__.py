"""What every package uses: errors, paths, files, privacy, terminal text, trust, the clock."""
