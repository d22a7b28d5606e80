"""Hooks: commands of the person that run at points of a session. Field names as Claude Code's hooks have them."""
