"""Tools that read and change files of the project folder."""
