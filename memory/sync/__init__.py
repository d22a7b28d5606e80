"""Several devices of one owner: each writes a log of its own at a shared location, and reads the logs of the others.

errors      what can fail
names       names of segments
operation   what changed: entries, titles and labels, deletions, versions of notes
segment     a file of operations: packed, hashed, encrypted where wanted
encryption  age keys
device      this device
registers   titles and labels: the last writer holds
outbox      which changes are in which segment
own_log     writes this device's segments to a location
inbox       applies operations of other devices
other_logs  reads the segments of other devices
note_graph  versions of a note file, merged
notes       note files to versions and back
place       where segments are
sync        one run
status      what was read, written, and could not be
"""
