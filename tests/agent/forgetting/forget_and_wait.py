"""A process that forgets all canaries of a workspace: `python -m tests.agent.forgetting.forget_and_wait ROOT`.

It says "begun" once the job is written down. The test kills it.
"""

import sys
from pathlib import Path

from agent.services.forget import forgetting, plan
from foundation.clock import SystemClock
from foundation.paths import Workspace
from memory.memory import Memory
from tests.agent.forgetting.entrances import MARK


def main() -> None:
    memory = Memory.open(Workspace(Path(sys.argv[1])), SystemClock())
    forgets = forgetting(memory)
    planned = plan(memory, named=MARK)
    job = forgets.begin(planned)
    print("begun", flush=True)
    forgets.run(job, lambda step: print(step, flush=True))
    print("done", flush=True)
    memory.close()


if __name__ == "__main__":
    main()
