"""The client."""

from __future__ import annotations

import json
import math
import os
import re
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import requests

from .error import LONGEST, LOST, OnRetry, ScopegateError, error_of, error_of_graphql, json_of, no_answer, wait_after
from .refusals import RefusedVersions

if TYPE_CHECKING:
    from .routes import Routes
    from .types import StreamEvent
else:
    Routes = object

LONGEST_EVENT = 1 << 20  # bytes
MALFORMED = {"status": 200, "code": "unexpected_response", "detail": "The stream has data that is not an event."}

EVENTS = """subscription ($after: String, $types: [String!]) {
  events(after: $after, types: $types) {
    id type occurred_at object { type id } changes status related { type id } gap { from to } origin { kind id name } cursor
  }
}"""


class Scopegate(Routes):
    """Calls a gateway with a key. Waits and retries as the API asks, so that a write takes effect at most once.

    `key` and `url` default to SCOPEGATE_KEY and SCOPEGATE_URL; without either, the URL is the demo's, http://127.0.0.1:4000. `retries` is the
    maximum number of retries per request, `timeout` how many seconds an attempt may take; `on_retry` is called before each wait with the error
    and the seconds. Methods raise ScopegateError. Use one client per thread: the requests session inside is not thread-safe.
    """

    def __init__(
        self,
        key: str | None = None,
        url: str | None = None,
        *,
        retries: float = 5,
        timeout: float = 60,
        on_retry: OnRetry = None,
    ) -> None:
        # a file often ends with a newline
        key = (key or os.environ.get("SCOPEGATE_KEY") or "").strip()
        if not re.fullmatch(r"[\x21-\x7e]+", key):
            raise ValueError("The API key is missing or has invalid characters: pass `key`, or set SCOPEGATE_KEY.")
        self._url = (url or os.environ.get("SCOPEGATE_URL") or "http://127.0.0.1:4000").strip().rstrip("/")
        # error messages contain the URL, so it must not contain a password
        if not re.fullmatch(r"(?i)https?://[^\s@?#\\]+", self._url):
            raise ValueError("The URL of the gateway must look like https://api.example.com, without user or query.")
        self._retries, self._timeout, self._on_retry = retries, timeout, on_retry

        def authorize(request: requests.PreparedRequest) -> requests.PreparedRequest:
            request.headers["Authorization"] = f"Bearer {key}"
            return request

        self._refused = RefusedVersions()
        self._session = requests.Session()
        # a function, since requests would replace a header with credentials that .netrc has for the host
        self._session.auth = authorize

    if not TYPE_CHECKING:  # routes.pyi has what each path takes and returns

        def get(self, path, /, **parameters):
            """Reads an object, or a page of a list: get("/orders/{id}", id=…)."""
            return self._rest("GET", path, parameters)[0]

        def read(self, path, /, **parameters):
            """Reads an object with its ETag, which is None for lists and reads with `include`."""
            return self._rest("GET", path, parameters)

        def post(self, path, body, /, *, idempotency_key=None, **parameters):
            """Writes. A bulk call succeeds even if some elements fail: check `failed`."""
            return self._rest("POST", path, parameters, body, idempotency_key)[0]

        def patch(self, path, body, /, *, if_match=None, idempotency_key=None, **parameters):
            """Changes the members in `body`; None clears one.

            With `if_match` raises `precondition_failed` if the object has changed, and `etag_refused` the third time if each read between
            returned that same version.
            """
            return self._rest("PATCH", path, parameters, body, idempotency_key, if_match)[0]

        def list(self, path, /, **parameters):
            """All objects of a list, page by page.

            One that is not changed meanwhile comes exactly once, whatever happens to others; by default (newest first) one that is changed, too.
            """
            # with lines, a page has at most 50 objects
            parameters.setdefault("limit", 50 if "lines" in (parameters.get("include") or ()) else 100)
            cursor = None
            while True:
                page = self.get(path, **{**parameters, "cursor": cursor})
                yield from page["data"]
                cursor = page["next_cursor"]
                if cursor is None:
                    return

    def graphql(
        self, document: str, variables: Mapping[str, Any] | None = None, *, idempotency_key: str | None = None
    ) -> Any:
        """Runs a query, or a mutation of one field, and returns `data`. Raises on any error, even if there is data, too.

        Pass values as variables: a document that the gateway already knows costs fewer points.
        """
        body = {"query": document, "variables": variables or {}}
        return self._call("POST", f"{self._url}/graphql", {}, body, idempotency_key)[0]["data"]

    def events(
        self, *, after: str | None = None, types: Sequence[str] | None = None, silence: float = 45
    ) -> Iterator[StreamEvent]:
        """Events as they happen, from now or after a cursor, until you leave the loop. Resumes after interruptions.

        `after` is the `cursor` of the last event you handled; store it once you have handled the event. `types` are names such as
        `order.created`. After `silence` seconds without a byte the stream is reopened; the gateway sends a comment every 15.
        """
        failures, was_open = 0, False
        while True:
            opened = math.inf
            error = ScopegateError({"status": 0, "code": "no_answer", "detail": "The stream ended."})
            try:
                body = {"query": EVENTS, "variables": {"after": after, "types": types}}
                for id, found in self._frames(body, silence):
                    after, opened = id or after, min(opened, time.monotonic())
                    if isinstance(found, ScopegateError):
                        raise found
                    if found:
                        yield found
                    was_open = True
            except ScopegateError as raised:
                error = raised
            except LOST as lost:
                error = no_answer(self._url, lost)
            # pauses grow until a stream stays open, whatever it sends
            failures = failures + 1 if time.monotonic() - opened < LONGEST else 1
            # an address that never worked may be wrong; one that worked will again
            if not error.is_retryable or (not was_open and failures > self._retries):
                raise error
            wait_after(failures, error, self._on_retry)

    def _frames(self, body: Mapping[str, Any], silence: float) -> Iterator[tuple[str | None, Any]]:
        """The frames of one connection, each with its id and its event or error. A comment has none of them."""
        headers = {"Accept": "text/event-stream", "Accept-Encoding": "identity"}
        url = f"{self._url}/graphql"
        with closing(
            self._session.post(url, json=body, headers=headers, timeout=silence, stream=True, allow_redirects=False)
        ) as response:
            if not response.headers.get("Content-Type", "").startswith("text/event-stream"):
                raise error_of(response)
            rest = bytearray()
            for piece in response.iter_content(1 << 16):
                # a frame ends in the new piece, or across its start
                start = max(0, len(rest) - 1)
                rest += piece
                while (end := rest.find(b"\n\n", start)) >= 0:
                    yield _frame_of(rest[:end])
                    del rest[: end + 2]
                    start = 0
                if len(rest) > LONGEST_EVENT:
                    raise ScopegateError(MALFORMED)

    def _rest(self, method: str, path: str, parameters: dict[str, Any], body: Any = None, *headers: str | None) -> Any:
        def value(match: re.Match[str]) -> str:
            found = str(parameters.pop(match[1], None) or "")
            if found in ("", ".", ".."):  # would lead to another route
                raise ValueError(f"{path} needs a value for {match[1]}.")
            return quote(found, safe="")

        path = re.sub(r"\{(\w+)\}", value, path)
        _, etag = (*headers, None, None)[:2]
        try:
            answer, version = self._call(method, f"{self._url}/api/v1{path}", parameters, body, *headers)
        except ScopegateError as error:
            if error.code != "precondition_failed" or etag is None:
                raise
            raise self._refused.note_refusal(path, etag, error) from None
        if version is not None:
            self._refused.note_read(path, version)
        return answer, version

    def _call(self, method: str, url: str, query: Any, body: Any, own: str | None = None, etag: str | None = None) -> Any:
        key = str(uuid.uuid4()) if own is None and method != "GET" else own
        # the same for all attempts, so that the write takes effect only once; requests omits headers that are None
        headers: Any = {"Idempotency-Key": key, "If-Match": etag}
        query = {name: str(given).lower() if isinstance(given, bool) else given for name, given in query.items()}
        for failures in count(1):
            try:
                response = self._session.request(
                    method, url, params=query, json=body, headers=headers, timeout=self._timeout, allow_redirects=False
                )
                answer = json_of(response)
                # GraphQL errors come with 200
                if response.ok and answer is not None and "errors" not in answer:
                    return answer, response.headers.get("ETag")
                error = error_of(response)
            except LOST as lost:
                error = no_answer(url, lost)
            if failures > self._retries or not error.is_retryable:
                raise error
            wait_after(failures, error, self._on_retry)


def _frame_of(block: bytearray) -> tuple[str | None, Any]:
    try:
        fields = dict(re.findall(r"^(\w+): ?(.*)$", block.decode(), re.MULTILINE))
        id, data = fields.get("id"), fields.get("data")
        if not data:
            return id, None
        result = json.loads(data)
        if result.get("errors"):
            return id, error_of_graphql(result["errors"][0])
        return id, {"cursor": result["data"]["events"]["cursor"], **result["data"]["events"]}
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise ScopegateError(MALFORMED) from None
