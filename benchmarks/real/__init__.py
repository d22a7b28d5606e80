"""The product with real small models on a real llama.cpp: `make real MODELS=FOLDER`.

FOLDER holds GGUF files, of any names. The figures in docs/benchmarks.md are of Qwen2.5-Coder-0.5B-Instruct and
Qwen2.5-Coder-1.5B-Instruct (huggingface.co/Qwen) and SmolLM2-135M-Instruct (huggingface.co/HuggingFaceTB).

    python -m benchmarks.real FOLDER                                         all parts with all models: hours
    python -m benchmarks.real FOLDER --parts plain --models coder-0.5b --half dev            30 messages
    python -m benchmarks.real FOLDER --parts plain,tools --models coder-1.5b --half dev --limit 10 --json FILE

Each message of the dev half is printed to standard error as it is judged. Of the held-out half only totals are printed:
nobody looks at its answers while a wording is chosen. `--program PATH` measures another checkout's `palimpsest`.
"""
