"""Chat templates in the shape of models' own: where the system text, the tools and the messages are in a prompt.

They are written for these tests. `DATED` and `MOVING` name what no order of a request can keep.
"""

from typing import Final

QWEN: Final = (
    "<|im_start|>system\n{% if messages[0].role == 'system' %}{{ messages[0].content }}{% endif %}"
    "{% if tools %}\n\n# Tools\n\n<tools>{% for tool in tools %}\n{{ tool | tojson }}{% endfor %}\n</tools>{% endif %}"
    "<|im_end|>\n{% for m in messages if m.role != 'system' %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""Qwen 2.5 and Hermes: the tools end the system turn."""

LLAMA: Final = (
    "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\n"
    "Today Date: 26 Jul 2024\n\n{% if messages[0].role == 'system' %}{{ messages[0].content | trim }}{% endif %}"
    "<|eot_id|>{% for m in messages if m.role != 'system' %}<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n"
    "{% if loop.first and tools %}Given the following functions, respond with a JSON for a function call.\n\n"
    "{% for tool in tools %}{{ tool | tojson(indent=4) }}\n\n{% endfor %}{% endif %}{{ m.content | trim }}<|eot_id|>"
    "{% endfor %}{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)
"""Llama 3.1: the tools begin the first user turn."""

GEMMA: Final = (
    "<bos>{% set head = messages[0].content + '\n\n' if messages[0].role == 'system' else '' %}"
    "{% for m in messages if m.role != 'system' %}"
    "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles must alternate') }}{% endif %}"
    "<start_of_turn>{{ 'model' if m.role == 'assistant' else m.role }}\n{{ head if loop.first }}"
    "{{ m.content | trim }}<end_of_turn>\n{% endfor %}"
    "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
"""Gemma 2 and 3: no system turn and no tools. What the system says begins the first user turn."""

GEMMA_4: Final = (
    "<bos><|turn>system\n{{ messages[0].content | trim if messages[0].role == 'system' }}"
    "{% for tool in tools or [] %}<|tool>declaration:{{ tool.function | tojson }}<tool|>{% endfor %}<turn|>\n"
    "{% for m in messages if m.role != 'system' %}<|turn>{{ 'model' if m.role == 'assistant' else m.role }}\n"
    "{{ m.content | trim }}<turn|>\n{% endfor %}{% if add_generation_prompt %}<|turn>model\n{% endif %}"
)

MISTRAL: Final = (
    "<s>{% set users = messages | selectattr('role', 'equalto', 'user') | list %}"
    "{% for m in messages if m.role != 'system' %}"
    "{% if m.role == 'user' %}{% if m == users[-1] and tools %}[AVAILABLE_TOOLS] {{ tools | tojson }}"
    "[/AVAILABLE_TOOLS]{% endif %}[INST] {% if loop.first and messages[0].role == 'system' %}{{ messages[0].content }}"
    "\n\n{% endif %}{{ m.content }}[/INST]{% else %} {{ m.content }}</s>{% endif %}{% endfor %}"
)
"""Mistral v3: the tools are before the last user turn, so that each turn moves them."""

DEEPSEEK: Final = (
    "<｜begin▁of▁sentence｜>{% if messages[0].role == 'system' %}{{ messages[0].content }}{% endif %}"
    "{% if tools %}\n\n## Tools\n{% for tool in tools %}\n### {{ tool.function.name }}\n"
    "{{ tool.function.description }}\n{{ tool.function.parameters | tojson }}\n{% endfor %}{% endif %}"
    "{% for m in messages if m.role != 'system' %}{% if m.role == 'user' %}<｜User｜>{{ m.content }}"
    "{% else %}<｜Assistant｜></think>{{ m.content }}<｜end▁of▁sentence｜>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<｜Assistant｜></think>{% endif %}"
)

GPT_OSS: Final = (
    "<|start|>system<|message|>You are ChatGPT.\nKnowledge cutoff: 2024-06\nCurrent date: {{ today }}\n\n"
    "Reasoning: medium<|end|><|start|>developer<|message|># Instructions\n\n"
    "{{ messages[0].content if messages[0].role == 'system' }}\n\n# Tools\n\nnamespace functions {\n"
    "{% for tool in tools or [] %}// {{ tool.function.description }}\ntype {{ tool.function.name }} = "
    "(_: {{ tool.function.parameters | tojson }}) => any;\n{% endfor %}}<|end|>"
    "{% for m in messages if m.role != 'system' %}<|start|>{{ m.role }}"
    "{{ '<|channel|>final' if m.role == 'assistant' }}<|message|>{{ m.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant{% endif %}"
)
"""gpt-oss: its own system turn has the day, so that the first request of a day is read whole."""

TEMPLATES: Final = {
    "qwen": QWEN,
    "llama": LLAMA,
    "gemma": GEMMA,
    "gemma 4": GEMMA_4,
    "mistral": MISTRAL,
    "deepseek": DEEPSEEK,
    "gpt-oss": GPT_OSS,
}
WITHOUT_TOOLS: Final = frozenset({"gemma"})
MOVING: Final = frozenset({"mistral"})
DATED: Final = frozenset({"gpt-oss"})
