"""Rules know the tools that loaded modules declare: here all of them."""

import agent.tools.catalogue  # noqa: F401
