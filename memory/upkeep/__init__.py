"""Upkeep of a workspace's memory: rules of retention, sampled checks of what is stored, and the room that it takes."""
