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
    """A request is not a webhook signed with this secret, or not a recent one. Answer 401."""


def verify_webhook(
    raw_body: bytes | str, headers: Mapping[str, str], secret: str | Sequence[str], *, tolerance: float = 300
) -> Event:
    """Checks the signature of a webhook and returns its event. The same event can come again: remember its `id`.

    `raw_body` is what was received, before anything parsed it; `headers` have names in any case; `secret` is that of the endpoint,
    `whsec_…`, or several while it is replaced; `tolerance` is how far `webhook-timestamp` may be from this clock, in seconds, so that a
    recorded webhook is not accepted later. Raises WebhookVerificationError, and ValueError for a malformed secret.
    """
    secrets = [_bytes_of(one) for one in ([secret] if isinstance(secret, str) else secret)]
    given = {name.lower(): value for name, value in headers.items()}
    try:
        id, timestamp, signatures = (given[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
    except KeyError as missing:
        raise WebhookVerificationError(f"There is no header {missing.args[0]}.") from None
    # not the other way round, which would take any age if the tolerance is NaN
    if not re.fullmatch("[0-9]{1,15}", timestamp) or not abs(time.time() - int(timestamp)) <= tolerance:
        raise WebhookVerificationError("webhook-timestamp is too far from this clock.")

    body = raw_body.encode(errors="surrogatepass") if isinstance(raw_body, str) else raw_body
    # a lone surrogate is no error here: nobody has signed it
    signed = f"{id}.{timestamp}.".encode(errors="surrogatepass") + body
    expected = [b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()) for key in secrets]
    sent = [signature.encode(errors="surrogatepass") for signature in signatures.split()]
    if not any(hmac.compare_digest(one, wanted) for one in sent for wanted in expected):
        raise WebhookVerificationError("No signature in webhook-signature is of this body and a secret.")
    event: Event = json.loads(body)
    return event


def _bytes_of(secret: str) -> bytes:
    # b64decode ignores what is no base64
    if not re.fullmatch("whsec_[A-Za-z0-9+/]{32,}={0,2}", secret):
        raise ValueError("A webhook secret is whsec_ and base64.")
    return base64.b64decode(secret[len("whsec_") :])
