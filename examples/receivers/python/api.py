"""Reads from Scopegate, with nothing but the standard library."""

from __future__ import annotations

import json
import sys
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
    """Whatever passes (429, 5xx, no answer or one of a proxy) is repeated until it has."""

    def __init__(self, url: str, key: str) -> None:
        self.url = f"{url}/api/v1"
        self.trouble: str | None = None
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
                    found = json.load(response)
                self._say(None)
                return found
            except HTTPError as error:
                problem = _problem_of(error)
                # a 404 of anything else, such as a proxy, says nothing of the object
                if problem and error.code == 404 and problem.code == "not_found":
                    self._say(None)
                    return None
                if problem and error.code not in (404, 429) and error.code < 500:
                    raise problem from None
                said = problem.code if problem else "which is no answer of Scopegate"
                self._say(f"{self.url} answered {error.code}, {said}")
                after = error.headers.get("Retry-After", "")
                # a proxy may send a date instead
                if after.isdecimal():
                    delay = min(int(after), 999)
                error.close()
            except (OSError, HTTPException, ValueError) as error:
                # no answer, an incomplete one, or one of something in between that is no JSON
                self._say(f"cannot reach {self.url}: {error}")
            time.sleep(delay)

    def _say(self, trouble: str | None) -> None:
        """Prints what is wrong once, and when it is over."""
        if trouble != self.trouble:
            print(f"{trouble}; asking again until that changes" if trouble else "going on", file=sys.stderr, flush=True)
        self.trouble = trouble


def _problem_of(error: HTTPError) -> Problem | None:
    """None if the answer is not one of Scopegate, but of something in between."""
    if error.headers.get_content_type() != "application/problem+json":
        return None
    try:
        problem = json.load(error)
        return Problem(problem["code"], problem.get("detail", ""))
    except (OSError, HTTPException, ValueError, TypeError, KeyError):
        return None
