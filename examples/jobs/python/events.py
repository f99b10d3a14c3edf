"""Keeps a folder of orders equal to Scopegate's, live: python events.py"""

import json
import os
from pathlib import Path

from scopegate import Scopegate, ScopegateError

api = Scopegate()
FOLDER = Path("orders")
FOLDER.mkdir(exist_ok=True)


def save(name, text):
    """Writes a file so that a crash leaves the old or the new one."""
    (FOLDER / ".part").write_text(text, encoding="utf-8")
    os.replace(FOLDER / ".part", FOLDER / name)


def copy():
    """Copies everything. The cursor is noted before, so that nothing that changes meanwhile is missed."""
    cursor = api.get("/events", after="now")["next_cursor"]
    old = {file.name for file in FOLDER.iterdir()}
    for order in api.list("/orders", include=["lines"]):
        save(f"{order['id']}.json", json.dumps(order))
        old.discard(f"{order['id']}.json")
    for name in old:
        (FOLDER / name).unlink(missing_ok=True)
    save("cursor", cursor)
    print("copied everything", flush=True)


def refresh(id):
    """An order as it is now. The event may be older, which does no harm: its next event then changes nothing."""
    try:
        save(f"{id}.json", json.dumps(api.get("/orders/{id}", id=id)))
    except ScopegateError as error:
        if error.code != "not_found":
            raise
        (FOLDER / f"{id}.json").unlink(missing_ok=True)


while True:
    if not (FOLDER / "cursor").exists():
        copy()
    try:
        # the client opens the stream again whenever it breaks
        for event in api.events(after=(FOLDER / "cursor").read_text()):
            # deletions may be missing, and only a copy shows those
            if event["type"] == "feed.gap":
                copy()
            elif event["object"] and event["object"]["type"] == "order":
                refresh(event["object"]["id"])
            # only now: after a crash the event comes again
            save("cursor", event["cursor"])
    except ScopegateError as error:
        # away for longer than events are kept
        if error.code != "cursor_expired":
            raise
        copy()
