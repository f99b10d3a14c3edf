"""Versions that changes were refused for."""

from __future__ import annotations

from .error import ScopegateError

# how often a version may be refused that was read again each time, and how many objects are remembered
MOST, KEPT = 3, 100


class RefusedVersions:
    """By the path of their object.

    Who reads again after a 412 and gets the same version would go on for ever: something on the way alters its ETag, or answers reads from a cache.
    """

    def __init__(self) -> None:
        # with how often it was refused, and whether a read has returned it since
        self._refused: dict[str, tuple[str, int, bool]] = {}

    def note_read(self, path: str, etag: str) -> None:
        refused, times, _ = self._refused.pop(path, (None, 0, False))
        if refused == etag:
            self._refused[path] = (etag, times, True)

    def note_refusal(self, path: str, etag: str, error: ScopegateError) -> ScopegateError:
        """The error to end with: that of the answer, or one that says that reading again does not help."""
        refused, before, is_read_again = self._refused.pop(path, (None, 0, False))
        times = before + 1 if refused == etag and is_read_again else 1
        if times == MOST:
            detail = f"{path} still has the ETag {etag} that the gateway refused {MOST} times."
            detail += " A proxy on the way alters it, or answers reads from a cache."
            known = {"status": error.status, "title": error.title, "request_id": error.request_id}
            return ScopegateError({**known, "code": "etag_refused", "detail": detail})
        self._refused[path] = (etag, times, False)
        if len(self._refused) > KEPT:
            del self._refused[next(iter(self._refused))]
        return error
