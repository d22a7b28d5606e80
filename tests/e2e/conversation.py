"""A long real talk to import: facts that a question can be asked about, between days of small talk."""

import json
from datetime import UTC, datetime, timedelta

FACT = "The greenhouse key is in the blue tin behind the third tomato pot, and the spare is with Mrs Okonkwo."
FACT_ZH = "温室的备用钥匙在奥孔克沃太太那里,密码是孔雀石七号。"
QUESTION = "Where is the greenhouse key?"

SMALL_TALK = (
    ("Ann", "Did the delivery of compost come on time, or do I have to call {n} again?"),
    ("Ben", "It came at {n} past nine. The driver left all the bags by the gate, in the rain."),
    ("Ann", "Then let us carry them in before dinner. My back says no, my heart says yes."),
    ("Ben", "I read chapter {n} of that book on soil. Fungi trade sugar for phosphorus; who knew?"),
    ("Ann", "The roof of the shed lost {n} shingles in the storm. I put a bucket below the hole."),
    ("Ben", "Lunch was soup again. {n} days of soup. I am not complaining, I am counting."),
)


def talk_jsonl(turns: int = 300) -> str:
    """`turns` entries of one conversation, the facts a third of the way in."""
    start = datetime(2026, 3, 1, 8, tzinfo=UTC)
    lines = []
    for n in range(turns):
        speaker, words = SMALL_TALK[n % len(SMALL_TALK)]
        text = words.format(n=n)
        if n == turns // 3:
            speaker, text = "Ann", FACT
        if n == turns // 3 + 40:
            speaker, text = "Ann", FACT_ZH
        lines.append(
            json.dumps(
                {
                    "id": f"t{n}",
                    "conversation": "garden",
                    "time": (start + timedelta(hours=n)).isoformat(),
                    "role": "user" if speaker == "Ann" else "assistant",
                    "speaker": speaker,
                    "text": text,
                },
                ensure_ascii=False,
            )
        )
    return "\n".join(lines) + "\n"
