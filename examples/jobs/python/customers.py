"""Keeps a folder of customers in step with Scopegate, both ways: python customers.py, every few minutes.

changes.ndjson is what your users changed, a line each:
{"customer_id": "…", "contact_id": "…", "member": "phone", "was": "030-0074321", "is": "030-0074322"}
"""

import json
from pathlib import Path

from scopegate import Scopegate, ScopegateError

api = Scopegate()
MEMBERS = ["name", "role", "email", "phone"]
FOLDER = Path("customers")
FOLDER.mkdir(exist_ok=True)
CHANGES, TAKEN = Path("changes.ndjson"), Path("changes.taken")


def save(name, text):
    """Writes a file so that a crash leaves the old or the new one."""
    (FOLDER / ".part").write_text(text, encoding="utf-8")
    (FOLDER / ".part").replace(FOLDER / name)


def push(change):
    """Changes one member of one contact, whatever others change meanwhile, and says what came of it."""
    id, member = change["customer_id"], change.get("member")
    if member not in MEMBERS:
        return f"refused: a change is of {', '.join(MEMBERS)}, not of {member}"
    while True:
        try:
            customer, etag = api.read("/customers/{id}", id=id)
            contact = next((one for one in customer["contacts"] if one["id"] == change["contact_id"]), None)
            if customer["erased_at"]:
                return "refused: the customer was erased"
            if contact is None:
                return "refused: the contact is gone"
            if contact[member] == change["is"]:
                return "stored already"
            if contact[member] != change["was"]:
                return f"refused: somebody else changed it to {contact[member]}"
            # without one the change would be unconditional
            if not etag:
                raise RuntimeError(f"{id}: read without an ETag, which a proxy on the way must have removed")
            contact[member] = change["is"]
            api.patch("/customers/{id}", {"contacts": customer["contacts"]}, id=id, if_match=etag)
            return "stored"
        except ScopegateError as error:
            if error.code in ("not_found", "validation_failed"):
                return f"refused: {error.detail}"
            # somebody was faster: read it again, and look whether the change still makes sense. If that is the refused
            # version three times, patch ends with etag_refused
            if error.code != "precondition_failed":
                raise


def copy():
    """Everything anew. The end of the feed is noted before the copy, so that the feed has what changes meanwhile."""
    cursor = api.get("/events", after="now")["next_cursor"]
    old = {file.name for file in FOLDER.iterdir()}
    for customer in api.list("/customers"):
        save(f"{customer['id']}.json", json.dumps(customer))
        old.discard(f"{customer['id']}.json")
    for name in old:
        (FOLDER / name).unlink(missing_ok=True)
    save("cursor", cursor)


def pull():
    """A page of what changed since the last run. Returns whether there are more."""
    if not (FOLDER / "cursor").exists():
        return copy()
    page = api.get("/events", after=(FOLDER / "cursor").read_text(), limit=100)
    if any(event["type"] == "feed.gap" for event in page["data"]):
        return copy()
    objects = [event["object"] for event in page["data"] if event["object"]]
    ids = {object["id"] for object in objects if object["type"] == "customer"}
    for customer in api.list("/customers", id=sorted(ids)) if ids else ():
        save(f"{customer['id']}.json", json.dumps(customer))
        ids.discard(customer["id"])
    # what the list no longer has was deleted
    for id in ids:
        (FOLDER / f"{id}.json").unlink(missing_ok=True)
    save("cursor", page["next_cursor"])
    return page["has_more"]


# taken, so that your program can go on writing; what a crash left is taken up first, and harmless if it was stored
if not TAKEN.exists() and CHANGES.exists():
    CHANGES.rename(TAKEN)
if TAKEN.exists():
    for line in filter(None, TAKEN.read_text(encoding="utf-8").split("\n")):
        print(line, push(json.loads(line)))
    TAKEN.unlink()
try:
    while pull():
        pass
except ScopegateError as error:
    # not run for a month
    if error.code != "cursor_expired":
        raise
    copy()
