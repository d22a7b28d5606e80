"""The settings of the models room; agent.config composes them with the other rooms'."""

from typing import Annotated

from msgspec import Meta, Struct


class ModelSettings(Struct, frozen=True, kw_only=True):
    """How models are asked. Times are in seconds."""

    window: Annotated[int, Meta(ge=0, description="Tokens a request and its answer may take; 0 asks the server.")] = 0
    temperature: Annotated[
        float | None, Meta(description="How freely the model chooses its words; empty leaves it to the server.")
    ] = None
    vision: Annotated[
        bool | None, Meta(description="Whether the model sees images; empty asks the server, or goes by the name.")
    ] = None
    tools: Annotated[bool | None, Meta(description="Whether the model may call tools; empty asks the server.")] = None
    connect_timeout: Annotated[float, Meta(gt=0, description="How long to wait for a connection.")] = 5.0
    first_byte_timeout: Annotated[
        float, Meta(gt=0, description="How long to wait for the first word; a long prompt takes minutes to read.")
    ] = 600.0
    stall_timeout: Annotated[float, Meta(gt=0, description="How long a stream may stand still.")] = 120.0
    retries: Annotated[int, Meta(ge=0, description="How often a busy server is asked again before the first word.")] = 3
    retry_wait: Annotated[
        float, Meta(gt=0, description="The first pause before asking again; each next is twice it.")
    ] = 0.5
    longest_wait: Annotated[
        float, Meta(gt=0, description="The longest pause to accept when a server says when to come back.")
    ] = 30.0
