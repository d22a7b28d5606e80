"""What the files of a person were, and by whom they were changed.

cause         who changes a file, and why
objects       contents by their SHA-256, whole or as what differs from another
digest_line   lines with their SHA-256
manifest      the list of versions
head          how far the list reached
lost          what a person was told is lost
recovery      versions that are found again in their contents
problems      what is wrong with the versions
retention     which versions are kept
store         versions of files: record, list, read, check
file_history  what is seen and what is written, as versions
"""
