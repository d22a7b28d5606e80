"""Provider fields on their way through the store."""

from datetime import UTC, datetime
from typing import Any

from memory.provider_fields import PROVIDER_FIELDS, provider_fields, stored_fields, without_signatures
from memory.records import Entry, EntryKind
from models.messages import ProviderFields, Role

SIGNATURE = "EjQKMgEMabc+/=" * 8
FIELDS = ProviderFields(
    "openai:m@h",
    {"reasoning_details": [{"text": "The quince is ripe.", "signature": SIGNATURE}], "x_state": 7},
    {"given": {"id": "given", "extra_content": {"google": {"thought_signature": SIGNATURE}}}},
    "reasoning_content",
)


def entry(meta: dict[str, Any], *, complete: bool = True) -> Entry:
    given = {
        "seq": 1,
        "id": "e_1",
        "conversation": "c_1",
        "conversation_seq": 1,
        "parent": None,
        "text": "",
        "chars": 0,
    }
    time = datetime(2026, 11, 1, tzinfo=UTC)
    return Entry(kind=EntryKind.MESSAGE, role=Role.ASSISTANT, time=time, meta=meta, complete=complete, **given)


def test_fields_come_back_as_they_were_under_the_ids_of_the_store() -> None:
    meta = {PROVIDER_FIELDS: stored_fields(FIELDS, {"given": "ours"}, lambda _: True), "reasoning": "Hm."}
    back = provider_fields(entry(meta))
    assert back == ProviderFields(
        FIELDS.origin, FIELDS.message, {"ours": FIELDS.calls["given"]}, "reasoning_content", "Hm."
    )
    assert provider_fields(entry(meta, complete=False)) is None
    assert provider_fields(entry({})) is None
    assert provider_fields(entry({PROVIDER_FIELDS: "no fields"})) is None


def test_words_that_were_taken_out_later_take_the_signed_fields_with_them() -> None:
    stored = stored_fields(FIELDS, {"given": "ours"}, lambda _: True)
    stored["message"] = stored["message"].replace("quince", "[forgotten]")
    back = provider_fields(entry({PROVIDER_FIELDS: stored, "reasoning": "[forgotten]"}))
    assert back == ProviderFields(FIELDS.origin, {}, {}, "reasoning_content", "[forgotten]")


def test_a_field_that_the_privacy_rules_change_is_left_out() -> None:
    stored = stored_fields(FIELDS, {"given": "ours"}, lambda value: "quince" not in str(value))
    back = provider_fields(entry({PROVIDER_FIELDS: stored}))
    assert back and back.message == {"x_state": 7} and back.calls


def test_the_rules_see_words_and_whole_keys_but_no_signatures() -> None:
    key = "sk-" + "proj-" + "a1B2c3D4e5" * 8
    given = {"signature": SIGNATURE, "state": SIGNATURE, "data": "two words", "text": "words", "token": key}
    assert without_signatures(given) == {
        "signature": "",
        "state": "",
        "data": "two words",
        "text": "words",
        "token": key,
    }
