"""The slash commands: one registry for the screen, headless use and the documents."""
