"""Errors, and how long to wait before a retry."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Callable, Optional

import requests

if TYPE_CHECKING:
    from .types import Fault

# longest wait of the client's own, and by Retry-After, since a proxy's date may be wrong, in seconds
LONGEST, LONGEST_SAID = 30, 600
# no answer, or an incomplete one
LOST = (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError)


class ScopegateError(Exception):
    """Why a call failed. Branch on `code`, show people `detail`, quote `request_id` to support."""

    def __init__(self, problem: Mapping[str, Any]) -> None:
        super().__init__(f"{problem['code']}: {problem['detail']}")
        self.status: int = problem["status"] if isinstance(problem["status"], int) else 0
        """HTTP status; 0 without an answer."""
        self.code: str = problem["code"]
        """A code of the API; `no_answer` or `unexpected_response` if the API did not answer; `etag_refused` (see `patch`)."""
        self.title: str = problem.get("title", self.code)
        self.detail: str = problem["detail"]
        self.errors: list[Fault] = problem.get("errors", [])
        """Each fault of the request, with its `parameter` or its `pointer` into the body."""
        self.request_id: str | None = problem.get("request_id")
        after: Any = problem.get("retry_after")
        self.retry_after: float | None = after if type(after) in (int, float) and 0 <= after < math.inf else None
        """Seconds to wait before a retry, if the answer gives them."""

    @property
    def is_retryable(self) -> bool:
        """Whether the same request may succeed later. The client has already used up its retries."""
        if self.code == "conflict":  # one that names a member fails again
            return not self.errors
        # guide for integrators, "Retrying"
        retryable = ("idempotency_in_progress", "no_answer", "unexpected_response")
        # what another program stored wrongly stays wrong
        if self.code == "stored_object_invalid":
            return False
        return self.code in retryable or self.status == 429 or self.status >= 500


OnRetry = Optional[Callable[[ScopegateError, float], None]]


def wait_after(failures: int, error: ScopegateError, on_retry: OnRetry) -> None:
    """Waits 0.5, 1, 2, … 30 seconds, longer with each failed attempt, and at least as long as the answer asks."""
    # up to a quarter more, so that clients that failed together do not come back together
    growing = min(LONGEST, 2.0 ** min(failures - 2, 9)) * (1 + random.random() / 4)
    seconds = max(growing, min(error.retry_after or 0, LONGEST_SAID))
    if on_retry:
        on_retry(error, seconds)
    time.sleep(seconds)


def error_of(response: requests.Response) -> ScopegateError:
    """The error in an answer: a problem document of REST, or the first error of GraphQL."""
    seconds = _seconds_of(response.headers.get("Retry-After", ""))
    after = {} if seconds is None else {"retry_after": seconds}
    said = json_of(response) or {}
    is_problem = response.headers.get("Content-Type", "").startswith("application/problem+json")
    # other servers send problem documents, too
    if is_problem and "code" in said and "request_id" in said:
        return ScopegateError({"detail": said["code"], **said, "status": response.status_code, **after})
    errors = said.get("errors")
    error = errors[0] if isinstance(errors, list) and errors else None
    extensions = error.get("extensions") if isinstance(error, dict) and "message" in error else None
    if error and isinstance(extensions, dict) and "code" in extensions:
        extensions = {"request_id": response.headers.get("X-Request-Id"), **extensions, **after}
        return error_of_graphql({**error, "extensions": extensions})
    detail = f"{response.url.split('?')[0]} answered {response.status_code}, but that is not a Scopegate response."
    return ScopegateError({"status": response.status_code, "code": "unexpected_response", "detail": detail, **after})


def error_of_graphql(error: Mapping[str, Any]) -> ScopegateError:
    extensions = error.get("extensions", {})
    return ScopegateError({"code": "internal", "status": 500, **extensions, "detail": error["message"]})


def no_answer(url: str, lost: Exception) -> ScopegateError:
    # filters can be personal data, which the text of `lost`, or `lost` as the cause, would bring into logs
    return ScopegateError({"status": 0, "code": "no_answer", "detail": f"No answer from {url}: {type(lost).__name__}."})


def json_of(response: requests.Response) -> dict[str, Any] | None:
    """The object in an answer, if it has one."""
    try:
        found = response.json()
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _seconds_of(header: str) -> float | None:
    """The seconds of a `Retry-After`, which from a proxy may be a date."""
    if header.isdecimal():
        return float(header)
    try:
        return max(0.0, (parsedate_to_datetime(header) - datetime.now(timezone.utc)).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return None
