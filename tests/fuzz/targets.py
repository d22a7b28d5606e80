"""All fuzz targets by name."""

from typing import Final

from tests.fuzz import archive_targets, document_targets, protocol_targets, store_targets, sync_targets, text_targets
from tests.fuzz.target import FuzzTarget

TARGETS: Final[dict[str, FuzzTarget]] = {
    target.name: target
    for module in (archive_targets, document_targets, text_targets, protocol_targets, store_targets, sync_targets)
    for target in module.TARGETS
}
