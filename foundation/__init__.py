"""What every room stands on: errors, paths, files, privacy, the terminal's sanitiser, trust, the clock."""
