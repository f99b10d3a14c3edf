"""Brings messages of a help desk to request threads: python helpdesk.py inbox.ndjson

A line is a message, or closes its ticket. Its `id` is that of the form's submission or the e-mail: the same however often it is processed.
{"id": "m-1", "ticket": "T-17", "author": "customer", "name": "Ann", "email": "ann@example.com", "text": "Where is my order?"}
{"id": "m-4", "ticket": "T-17", "close": true}
"""

import json
import sys
from pathlib import Path

from scopegate import Scopegate, ScopegateError

api = Scopegate()
file = Path(sys.argv[1] if len(sys.argv) > 1 else "inbox.ndjson")
done_file = Path(f"{file}.done")
FAULTS = ("invalid_request", "validation_failed", "not_found", "payload_too_large")
"""What is wrong with a message, and not with the key or the gateway."""


def thread_of(ticket):
    """The thread of a ticket."""
    threads = api.get("/requests", external_ref=ticket)["data"]
    if threads:
        return threads[0]["id"]
    raise ScopegateError({"status": 404, "code": "not_found", "detail": f"no thread has the external_ref {ticket}"})


def name_of(message):
    """The name of who wrote it; without one their address stands for it."""
    return message.get("name") or message.get("email")


def customer_of(message):
    """The customer who has the sender's address, unless there is none or several."""
    found = api.get("/customers", email=message["email"], limit=2)["data"] if message.get("email") else []
    return found[0]["id"] if len(found) == 1 else None


def open_thread(message):
    """Opens a thread for a ticket. False if it has one."""
    contact = {"name": name_of(message), "email": message.get("email")}
    body = {"text": message["text"], "external_ref": message["ticket"], "contact": contact}
    # without it, erasing the customer would leave the thread as it is
    body["customer_id"] = customer_of(message)
    try:
        api.post("/requests", body, idempotency_key=f"{message['id']}-open")
    except ScopegateError as error:
        # it was opened before a crash, when the address belonged to another customer or to none
        if error.code == "idempotency_key_reused":
            return True
        if error.code != "conflict":
            raise
        return False
    return True


def bring(message):
    author = message.get("author", "customer")
    if message.get("close"):
        api.patch("/requests/{id}", {"status": "closed"}, id=thread_of(message["ticket"]))
    elif author == "organisation" or not open_thread(message):
        body = {"text": message["text"], "author": author, "author_name": name_of(message)}
        # a key for each write, the same whenever it is tried again: it takes effect once
        key = f"{message['id']}-add"
        api.post("/requests/{id}/messages", body, id=thread_of(message["ticket"]), idempotency_key=key)


failed = False
done = set(done_file.read_text().splitlines()) if done_file.exists() else set()
for line in filter(None, file.read_text(encoding="utf-8").split("\n")):
    message = json.loads(line)
    if message["id"] in done:
        continue
    try:
        bring(message)
        with done_file.open("a") as ids:
            ids.write(f"{message['id']}\n")
        print(message["id"], flush=True)
    except ScopegateError as error:
        # only this one waits for somebody to correct it
        if error.code not in FAULTS:
            raise
        print(f"{message['id']}: {error.detail}", file=sys.stderr)
        failed = True
sys.exit(1 if failed else 0)
