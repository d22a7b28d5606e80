"""Every import reports what it did not take, by reason and kind; a kind that no reader knows is named."""

from hypothesis import given
from hypothesis import strategies as st

from agent.importers.skipped import MAX_KINDS, OTHER, Skipped, SkippedKinds, SkipReason, describe_skipped
from memory.cold import ColdStore
from tests.agent.importers.stored import stored

RECORDS = st.builds(
    Skipped, st.just("line 1"), st.sampled_from([f"k{n}" for n in range(400)]), st.sampled_from(SkipReason)
)


@given(st.lists(RECORDS, max_size=600), st.integers(0, 600))
def test_no_count_is_lost_whatever_the_number_of_kinds(records: list[Skipped], cut: int) -> None:
    first, second = SkippedKinds(), SkippedKinds()
    for record in records[:cut]:
        first.add(record)
    for record in records[cut:]:
        second.add(record)
    first.add(*second.counts())
    counts = first.counts()
    assert sum(each.count for each in counts) == len(records)
    for reason in SkipReason:
        assert sum(each.count for each in counts if each.reason is reason) == sum(
            record.reason is reason for record in records
        )
    assert len(counts) <= MAX_KINDS + len(SkipReason)


def test_an_import_reports_what_it_did_not_take(cold: ColdStore) -> None:
    records = [Skipped("line 1", "system", SkipReason.METADATA), Skipped("line 7", "hologram")]
    report = stored(cold, [*records, records[0]])
    assert describe_skipped(report.skipped) == (
        "Not imported: 2 metadata (system 2); 1 unknown (hologram 1, first at line 7)."
    )
    assert describe_skipped(stored(cold, []).skipped) == ""


def test_many_kinds_are_counted_and_not_all_named() -> None:
    kinds = SkippedKinds()
    for number in range(MAX_KINDS + 5):
        kinds.add(Skipped("line 2", f"k{number:03}"))
    counts = kinds.counts()
    assert counts[0].kind == OTHER and counts[0].count == 5
    assert describe_skipped(counts).endswith(f"and {MAX_KINDS + 1 - 6} more).")


def test_a_kind_of_the_file_is_cleared_and_harmless_on_a_terminal() -> None:
    kinds = SkippedKinds()
    kinds.add(Skipped("line 1", "a\x1b]0;x\x07\nkey sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH" + "z" * 500))
    [count] = kinds.counts()
    assert "\x1b" not in count.kind and "\n" not in count.kind and len(count.kind) <= 60
