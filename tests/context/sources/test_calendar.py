"""JSON reads well; a calendar event is title, when, where, who."""

from context.sources.calendar import events_in, readable

EVENT = {
    "summary": "Dinner with Ann",
    "start": {"dateTime": "2026-03-14T19:00:00+01:00", "timeZone": "Europe/Berlin"},
    "end": {"dateTime": "2026-03-14T21:00:00+01:00"},
    "location": "Café Central",
    "attendees": [{"email": "ann@example.org", "responseStatus": "accepted"}, {"displayName": "Bo"}],
    "description": "Bring the photos",
    "visibility": "private",
}


def test_an_event_is_title_when_where_who() -> None:
    assert readable(EVENT) == (
        "Event: Dinner with Ann\n"
        "When: 2026-03-14T19:00:00+01:00 (Europe/Berlin) to 2026-03-14T21:00:00+01:00\n"
        "Where: Café Central\n"
        "Who: ann@example.org (accepted), Bo\n"
        "Notes: Bring the photos\n"
        "visibility: private"
    )


def test_a_plain_event_needs_only_a_title_and_a_start() -> None:
    assert readable({"title": "Nap", "start": "14:00"}) == "Event: Nap\nWhen: 14:00"


def test_calendars_hold_their_events_in_lists() -> None:
    assert len(events_in({"items": [EVENT, EVENT]})) == 2
    assert len(events_in([EVENT])) == 1
    assert events_in({"items": [EVENT, 3]}) == []
    assert readable([EVENT, EVENT]).count("Event:") == 2


def test_other_json_is_an_outline() -> None:
    assert readable({"a": {"b": [1, True, None]}, "c": "two\nlines"}) == (
        "a:\n  b:\n    - 1\n    - yes\n    - \nc:\n  two\n  lines"
    )


def test_depth_is_bounded() -> None:
    value: object = "deep"
    for _ in range(50):
        value = [value]
    assert "…" in readable(value)
