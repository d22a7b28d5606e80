"""llama.cpp's server on one GGUF file: `python -m benchmarks.real.serve FILE --context 8192 --threads 1 --parallel 1`.

Prints its address, then serves until standard input ends, so that it never outlives its parent.
"""

import argparse
import os
import sys


def main(arguments: list[str]) -> None:
    import xllamacpp

    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("file")
    parser.add_argument("--context", type=int, default=8192, help="tokens of a conversation")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--parallel", type=int, default=1, help="slots: conversations that keep their cache")
    options = parser.parse_args(arguments)
    parameters = xllamacpp.CommonParams()
    parameters.model.path = options.file
    parameters.n_parallel = options.parallel
    parameters.n_ctx = options.context * options.parallel
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.use_jinja = True
    parameters.warmup = False
    parameters.endpoint_props = parameters.endpoint_slots = True
    parameters.cache_ram_mib = 0  # a prompt that left its slot is read again, as on a machine with little memory
    for threads in (parameters.cpuparams, parameters.cpuparams_batch):
        threads.n_threads = options.threads
    parameters.verbosity = -1
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # llama.cpp's own end waits for a running answer


if __name__ == "__main__":
    main(sys.argv[1:])
