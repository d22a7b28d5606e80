"""`python -m agent.cli`: the command line without a screen."""

import sys

from agent.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
