"""Pictures in a terminal. Nothing here is loaded before the first one is shown."""
