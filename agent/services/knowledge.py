"""Retrieval from the added files for a question, as parts of a request."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from context import Attachment
from context.assembly.budget import budget_for
from foundation.program import PROGRAM
from memory.knowledge import ocr
from memory.knowledge.readers.document import OcrReader
from memory.knowledge.retrieve.select import KnowledgeContext
from models.messages import RecalledSpan
from models.tokens import image_tokens

if TYPE_CHECKING:
    from agent.config.config import Config
    from agent.session import Session


MAX_PASSAGES = 8  # for one question


def retrieve(session: "Session", question: str) -> KnowledgeContext:
    """Passages on the question for the present model, within the recall budget. Each counts as one more use."""
    profile, settings = session.profile, session.config.context
    budget = int(budget_for(profile.window, settings).total * settings.recall_share)
    return session.memory.knowledge.get_context_for_query(
        question,
        budget,
        max_vision_tokens=session.config.knowledge.max_vision_tokens,
        cost=(lambda width, height: image_tokens(profile.images, width, height)) if profile.vision else None,
        count=session.model.counter.count,
        most=min(settings.recall_most, MAX_PASSAGES),
    )


def picture_reader(config: "Config") -> Callable[[], OcrReader | None]:
    """Opens the configured OCR reader; the engine is looked for when the first file is read."""
    return lambda: ocr.installed_ocr_reader(config.models, config.environment)


def recalled_spans(context: KnowledgeContext) -> tuple[RecalledSpan, ...]:
    """The passages as parts of a request; a page that is sent as a picture is given with its exact text."""
    return tuple(
        RecalledSpan(passage.text, passage.citation, passage.trust, passage.score, passage.citation.time)
        for passage in context.passages
    )


def page_attachments(context: KnowledgeContext) -> tuple[Attachment, ...]:
    """The pages and pictures to attach."""
    images = (passage.image for passage in context.passages if passage.image)
    return tuple(Attachment(image.name, image.media_type, image.data) for image in images)


def retrieval_notice(context: KnowledgeContext) -> str:
    """A notice where nothing was found, or only files out of view; else ""."""
    if not context.passages:
        return f"No results in knowledge. `{PROGRAM} knowledge add PATH` adds files."
    if context.out_of_view:
        return "Nothing in view matched, so files out of view were searched."
    return ""
