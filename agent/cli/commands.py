"""Table of the subcommands. Each is imported when it runs."""

COMMANDS: dict[str, tuple[str, str]] = {
    "chat": ("chat", "Open the chat (what happens without a command, too)."),
    "init": ("init", "Make a workspace."),
    "context": ("context", "Show the request that would be sent."),
    "remember": ("remember", "Add a note to MEMORY.md."),
    "memory": ("memory", "List, show and edit the notes."),
    "search": ("search", "Search everything remembered."),
    "recall": ("recall", "Bring passages back, whole; read a page's PNG."),
    "archive": ("archive", "Turn a text into page images."),
    "knowledge": ("knowledge", "Add files, and ask what they say."),
    "import": ("import_", "Import conversations from a file."),
    "export": ("export", "Write conversations out."),
    "conversations": ("conversations", "List, show, rename and delete conversations."),
    "models": ("models", "List, choose and test models."),
    "trust": ("trust", "Trust a workspace that was made elsewhere."),
    "config": ("config", "Show, set and check the configuration."),
    "stats": ("stats", "Say what is stored."),
    "check": ("check", "Check what is stored against its hashes."),
    "doctor": ("doctor", "Look at the installation, and say what is missing."),
}
"""Name → (module in agent.cli, summary). The order is help's."""
