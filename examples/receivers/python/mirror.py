"""A copy of Scopegate's data in a SQLite file.

Webhooks only say which objects to read again, so neither their order nor a repeated one matters, and none that is lost is missed: the
feed of events is read on from where it was when the receiver starts, and every few minutes. One thing is done after another, so that
an older answer never replaces a newer one.
"""

from __future__ import annotations

import json
import sqlite3
import time
from threading import Condition

from scopegate import ScopegateError
from scopegate.types import Event

from api import Api

PATHS = {
    "product": "/products",
    "customer": "/customers",
    "quote": "/quotes",
    "order": "/orders",
    "request": "/requests",
}
"""Where the objects of each type are. Remove what you do not need."""

MOST_PENDING = 100
"""The most events that wait; beyond that the feed is read instead."""
MOST_DONE = 10_000
"""The most events that are remembered as done."""
LOCKED_FOR = 60
"""How long another program may write to the copy, in seconds."""

TABLES = """
create table if not exists objects (type text, id text, body text, primary key (type, id));
create table if not exists feed (cursor text);
"""


class Mirror:
    def __init__(self, api: Api, file: str, catch_up_every: float) -> None:
        self.api = api
        self.file = file
        self.catch_up_every = catch_up_every
        self.news = Condition()
        # shared with the threads that receive webhooks
        self.pending: dict[str, tuple[str, str]] = {}  # type and id of objects, by id of the event
        self.done: dict[str, None] = {}  # events whose objects have been read since
        self.catch_up_at = 0.0

    def changed(self, event: Event) -> None:
        """Notes that an object has changed. Returns at once; the work is done later."""
        with self.news:
            if event["id"] in self.done:
                return
            if event["type"] == "feed.gap" or len(self.pending) >= MOST_PENDING:
                self.catch_up_at = 0.0
            elif event["object"]:
                self.pending[event["id"]] = (event["object"]["type"], event["object"]["id"])
            self.news.notify()

    def run(self) -> None:
        """Keeps the copy up to date. Raises ScopegateError if the key may not read it."""
        # used by this thread alone
        self.db = sqlite3.connect(self.file, timeout=LOCKED_FOR)
        # others can read the copy meanwhile, for as long as they like
        self.db.execute("pragma journal_mode = wal")
        self.db.executescript(TABLES)
        while True:
            try:
                if self._cursor() is None:
                    self._copy_anew()
                elif self._is_due():
                    self._catch_up()
                else:
                    self._refresh(self._awaited())
            except ScopegateError as error:
                # away for longer than events are kept
                if error.code != "cursor_expired":
                    raise
                self._copy_anew()

    def _cursor(self) -> str | None:
        row = self.db.execute("select cursor from feed").fetchone()
        return row and row[0]

    def _move_to(self, cursor: str) -> None:
        self.db.execute("delete from feed")
        self.db.execute("insert into feed values (?)", (cursor,))

    def _copy_anew(self) -> None:
        # before the copy, so that the feed has whatever changes while it is made
        cursor = self.api.events("now")["next_cursor"]
        with self.db:  # one transaction
            self.db.execute("delete from objects")
            for type, path in PATHS.items():
                rows = ((type, row["id"], json.dumps(row)) for row in self.api.list(path))
                self.db.executemany("insert or replace into objects values (?, ?, ?)", rows)
            self._move_to(cursor)
        print("copied everything", flush=True)

    def _refresh(self, changed: dict[str, tuple[str, str]]) -> None:
        """Reads objects, each once however often it changed, and stores what they are now."""
        for type, id in dict.fromkeys(changed.values()):
            if type not in PATHS:
                continue  # a type that is not copied, or that came later
            row = self.api.read(PATHS[type], id)
            with self.db:
                if row is None:
                    self.db.execute("delete from objects where type = ? and id = ?", (type, id))
                else:
                    self.db.execute("insert or replace into objects values (?, ?, ?)", (type, id, json.dumps(row)))
        with self.news:
            self.done.update(dict.fromkeys(changed))
            while len(self.done) > MOST_DONE:
                del self.done[next(iter(self.done))]

    def _is_due(self) -> bool:
        with self.news:
            if time.monotonic() < self.catch_up_at:
                return False
            self.catch_up_at = time.monotonic() + self.catch_up_every
            return True

    def _awaited(self) -> dict[str, tuple[str, str]]:
        """What webhooks have named; waits for it until the feed is due."""
        with self.news:
            if not self.pending:
                self.news.wait(max(self.catch_up_at - time.monotonic(), 0))
            # taken before it is read: what is reported from now on needs another look
            changed, self.pending = self.pending, {}
            return changed

    def _catch_up(self) -> None:
        """Reads the feed to its end."""
        while True:
            page = self.api.events(self._cursor() or "now")
            # deletions may be missing too, and only a copy shows those
            if any(event["type"] == "feed.gap" for event in page["data"]):
                return self._copy_anew()
            with self.news:
                new = [event for event in page["data"] if event["object"] and event["id"] not in self.done]
            self._refresh({event["id"]: (event["object"]["type"], event["object"]["id"]) for event in new})
            with self.db:
                self._move_to(page["next_cursor"])
            if not page["has_more"]:
                return
