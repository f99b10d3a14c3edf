"""A small client for Scopegate's REST API, based on requests."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from typing import Any

import requests


# error codes worth retrying (guide for integrators, "Retrying"), including 500, since writes have an Idempotency-Key
RETRIED = {"idempotency_in_progress", "rate_limited", "unavailable", "conflict", "internal"}
# no answer, or an incomplete one
LOST = (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError)


class Problem(Exception):
    """An error returned by the API: handle it by `code`; give support the `request_id`."""

    def __init__(self, problem: dict[str, Any]) -> None:
        super().__init__(f"{problem['code']}: {problem.get('detail', problem['title'])}")
        self.status: int = problem["status"]
        self.code: str = problem["code"]
        self.errors: list[dict[str, str]] = problem.get("errors", [])
        self.request_id: str = problem["request_id"]


class Scopegate:
    """Honours Retry-After, and retries so that a write takes effect at most once."""

    def __init__(self, url: str, key: str, retries: int = 5) -> None:
        self.url = f"{url}/api/v1"
        self.retries = retries
        self.session = requests.Session()
        self.session.headers["Authorization"] = f"Bearer {key}"

    def get(self, path: str, **parameters: Any) -> Any:
        return self._send("GET", path, params=parameters)

    def post(self, path: str, body: dict[str, Any]) -> Any:
        # the same key for all attempts, so that the write takes effect only once
        return self._send("POST", path, json=body, headers={"Idempotency-Key": str(uuid.uuid4())})

    def pages(self, path: str, **filters: Any) -> Iterator[dict[str, Any]]:
        """All rows of a list, page by page; cursors neither skip nor repeat rows."""
        cursor = None
        while True:
            page = self.get(path, **{"limit": 100, **filters, **({"cursor": cursor} if cursor else {})})
            yield from page["data"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def _send(self, method: str, path: str, **options: Any) -> Any:
        for attempt in range(self.retries + 1):
            is_last = attempt == self.retries
            try:
                response = self.session.request(method, self.url + path, timeout=30, **options)
            except LOST:
                if is_last:
                    raise
                time.sleep(2**attempt / 4)
                continue
            if response.ok:
                return response.json()
            problem = Problem(response.json())
            if is_last or problem.code not in RETRIED:
                raise problem
            time.sleep(float(response.headers.get("Retry-After", 2**attempt / 2)))
        raise AssertionError("unreachable")
