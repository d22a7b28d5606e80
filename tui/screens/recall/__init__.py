"""Looking through memory: the list, a passage, the page it stands on."""
