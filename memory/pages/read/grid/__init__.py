"""Finding the grid of cells in a picture: pitch, phase, origin."""
