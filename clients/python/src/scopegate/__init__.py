"""Client for Scopegate: its REST API with types (`scopegate.types`), GraphQL, events as a stream, and webhooks."""

from .client import Scopegate
from .error import ScopegateError
from .money import format_amount
from .webhook import WebhookVerificationError, verify_webhook

__all__ = ["Scopegate", "ScopegateError", "WebhookVerificationError", "format_amount", "verify_webhook"]
