"""MCP client: servers that the user configured, and their tools as tools of the session.

The SDK is imported in the thread of the servers, once one is configured and needed.
"""
