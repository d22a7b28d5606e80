"""What happens to archives later: aging, deletion, moves, repacking."""
