"""Reads from Scopegate, with nothing but the standard library."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

PATIENCE = 60
"""Timeout of a request, in seconds."""
LONGEST_DELAY = 30
"""The longest delay before a request is repeated, in seconds."""


class Problem(Exception):
    """An error returned by the API: handle it by `code`."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code


class Api:
    """Whatever passes (429, 5xx, no answer) is repeated until it has."""

    def __init__(self, url: str, key: str) -> None:
        self.url = f"{url}/api/v1"
        self.headers = {"Authorization": f"Bearer {key}"}

    def read(self, path: str, id: str) -> dict[str, Any] | None:
        """One object as it is now; None if it is not there."""
        return self._get(f"{path}/{id}")

    def list(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """All rows of a list, page by page."""
        cursor: dict[str, str] = {}
        while True:
            page = self._there(f"{path}?{urlencode({**query, **cursor})}")
            yield from page["data"]
            if page["next_cursor"] is None:
                return
            cursor = {"cursor": page["next_cursor"]}

    def events(self, after: str) -> dict[str, Any]:
        """The events after a cursor, or with `now` a cursor for what happens from now on."""
        return self._there(f"/events?{urlencode({'limit': 100, 'after': after})}")

    def _there(self, path: str) -> dict[str, Any]:
        found = self._get(path)
        if found is None:
            raise RuntimeError(f"{self.url}{path} is not there; is it the address of Scopegate?")
        return found

    def _get(self, path: str) -> dict[str, Any] | None:
        attempt = 0
        while True:
            delay = min(2**attempt / 2, LONGEST_DELAY)
            attempt = min(attempt + 1, 10)
            try:
                with urlopen(Request(self.url + path, headers=self.headers), timeout=PATIENCE) as response:
                    return json.load(response)
            except HTTPError as error:
                if error.code == 404:
                    return None
                if error.code != 429 and error.code < 500:
                    raise _problem_of(error) from None
                after = error.headers.get("Retry-After", "")
                # a proxy may send a date instead
                if after.isdecimal():
                    delay = min(int(after), 999)
                error.close()
            except (OSError, HTTPException, ValueError):
                pass  # no answer, an incomplete one, or one of something in between that is no JSON
            time.sleep(delay)


def _problem_of(error: HTTPError) -> Problem:
    try:
        problem = json.load(error)
        return Problem(problem["code"], problem.get("detail", ""))
    except (ValueError, TypeError, KeyError):
        # not from Scopegate, but from something in between
        return Problem(f"HTTP {error.code}", error.reason)
