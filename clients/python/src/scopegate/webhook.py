"""Signatures of webhooks (Standard Webhooks)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .types import Event


class WebhookVerificationError(Exception):
    """The request is not a recent webhook signed with this secret. Answer 401."""


def verify_webhook(
    raw_body: bytes | str, headers: Mapping[str, str], secret: str | Sequence[str], *, tolerance: float = 300
) -> Event:
    """Verifies the signature of a webhook and returns its event. The same event can come again: remember its `id`.

    `raw_body` is the body as received, before anything parsed it; header names can have any case; `secret` is the endpoint's, `whsec_…`, or
    several during a rotation; `tolerance` is the maximum age of `webhook-timestamp` in seconds, so that a recorded webhook is not accepted
    later. Raises WebhookVerificationError, and ValueError for a malformed secret.
    """
    secrets = [_bytes_of(one) for one in ([secret] if isinstance(secret, str) else secret)]
    given = {name.lower(): value for name, value in headers.items()}
    try:
        id, timestamp, signatures = (given[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
    except KeyError as missing:
        raise WebhookVerificationError(f"The header {missing.args[0]} is missing.") from None
    # not `> tolerance`, which would accept any age if the tolerance is NaN
    if not re.fullmatch("[0-9]{1,15}", timestamp) or not abs(time.time() - int(timestamp)) <= tolerance:
        raise WebhookVerificationError("webhook-timestamp is too far from the current time.")

    body = raw_body.encode(errors="surrogatepass") if isinstance(raw_body, str) else raw_body
    # a lone surrogate must not raise: it just has no valid signature
    signed = f"{id}.{timestamp}.".encode(errors="surrogatepass") + body
    expected = [b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()) for key in secrets]
    sent = [signature.encode(errors="surrogatepass") for signature in signatures.split()]
    if not any(hmac.compare_digest(one, wanted) for one in sent for wanted in expected):
        raise WebhookVerificationError("No signature in webhook-signature matches.")
    event: Event = json.loads(body)
    return event


def _bytes_of(secret: str) -> bytes:
    # b64decode ignores characters that are not base64
    if not re.fullmatch("whsec_[A-Za-z0-9+/]{32,}={0,2}", secret):
        raise ValueError("A webhook secret is whsec_ followed by base64.")
    return base64.b64decode(secret[len("whsec_") :])
