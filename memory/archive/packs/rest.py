"""When a page is at rest, and how many of them are packed together."""

from datetime import timedelta

AT_REST = timedelta(days=1)
"""What was archived today is what is most likely to be recalled, deleted or archived again."""

PAGES_A_FRAME = 64
"""Of a cold pack: one page of 64 is unpacked in milliseconds, one of 10,000 would take 1.5 s."""
