"""Keeps a folder of orders equal to Scopegate's, live: python events.py"""

import json
import math
import sys
from pathlib import Path

from scopegate import Scopegate, ScopegateError

# it runs for months, so it waits for a gateway that is away
api = Scopegate(retries=math.inf, on_retry=lambda error, _: print(error, file=sys.stderr))
FOLDER = Path("orders")
FOLDER.mkdir(exist_ok=True)
organisation = api.get("/me")["organisation"]["id"]


def save(name, text):
    """Writes a file so that a crash leaves the old or the new one."""
    (FOLDER / ".part").write_text(text, encoding="utf-8")
    (FOLDER / ".part").replace(FOLDER / name)


def cursor():
    """How far the feed was read; None without a copy, or with that of another organisation."""
    if not (FOLDER / "cursor").exists():
        return None
    owner, _, noted = (FOLDER / "cursor").read_text().partition(" ")
    if owner == organisation:
        return noted
    print(f"{FOLDER} is a copy of organisation {owner}, and the key of {organisation}: starting over", flush=True)
    return None


def copy():
    """Copies everything. The cursor is noted before, so that nothing that changes meanwhile is missed."""
    next_cursor = api.get("/events", after="now")["next_cursor"]
    old = {file.name for file in FOLDER.iterdir()}
    for order in api.list("/orders", include=["lines"]):
        save(f"{order['id']}.json", json.dumps(order))
        old.discard(f"{order['id']}.json")
    for name in old:
        (FOLDER / name).unlink(missing_ok=True)
    save("cursor", f"{organisation} {next_cursor}")
    print("copied everything", flush=True)


def refresh(ids):
    """Stores orders as they are now. Events may be older, which does no harm: the next ones then change nothing."""
    for order in api.list("/orders", id=sorted(ids), include=["lines"]) if ids else ():
        save(f"{order['id']}.json", json.dumps(order))
        ids.discard(order["id"])
    # what the list no longer has was deleted
    for id in ids:
        (FOLDER / f"{id}.json").unlink(missing_ok=True)


while True:
    try:
        after = cursor()
        if after is None:
            copy()
            continue
        # up to 100 events, as soon as there is one
        page = api.get("/events", after=after, limit=100, wait=20)
        # deletions may be missing, and only a copy shows those
        if any(event["type"] == "feed.gap" for event in page["data"]):
            copy()
        else:
            objects = [event["object"] for event in page["data"] if event["object"]]
            refresh({object["id"] for object in objects if object["type"] == "order"})
        # only now: after a crash the events come again
        save("cursor", f"{organisation} {page['next_cursor']}")
    except ScopegateError as error:
        # away for longer than events are kept
        if error.code != "cursor_expired":
            raise
        copy()
