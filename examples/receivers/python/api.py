"""Reads from Scopegate."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from scopegate import Scopegate, ScopegateError

LINES = ("/quotes", "/orders")
"""Lists that have what a read of one has only if it is asked for."""


class Api:
    """Whatever passes (429, 5xx, no answer or one of a proxy) is repeated until it has."""

    def __init__(self, url: str, key: str) -> None:
        # a path that is computed has no type of its own
        self.client: Any = Scopegate(key, url, retries=math.inf, on_retry=self._retrying)
        self.told: str | None = None

    def read(self, path: str, id: str) -> Mapping[str, Any] | None:
        """One object as it is now; None if there is none."""
        found: Mapping[str, Any] | None
        try:
            found = self.client.get(f"{path}/{{id}}", id=id)
        except ScopegateError as error:
            # the code of Scopegate: a 404 of anything else, such as a proxy, says nothing of the object
            if error.code != "not_found":
                raise
            found = None
        self._tell(None)
        return found

    def list(self, path: str) -> Iterator[Mapping[str, Any]]:
        """All rows of a list, with what a read of one has."""
        yield from self.client.list(path, include=["lines"] if path in LINES else None)
        self._tell(None)

    def events(self, after: str) -> Mapping[str, Any]:
        """The events after a cursor, or with `now` a cursor for what happens from now on."""
        feed: Mapping[str, Any] = self.client.get("/events", limit=100, after=after)
        self._tell(None)
        return feed

    def _retrying(self, error: ScopegateError, seconds: float) -> None:
        self._tell(f"{error} Asking again.")

    def _tell(self, what: str | None) -> None:
        """Prints what is wrong once, and when it is over."""
        if what != self.told:
            print(what or "Going on.", file=sys.stderr, flush=True)
        self.told = what
