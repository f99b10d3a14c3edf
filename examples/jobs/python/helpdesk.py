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


def thread_of(ticket):
    """The thread of a ticket."""
    threads = api.get("/requests", external_ref=ticket)["data"]
    if not threads:
        sys.exit(f"no thread has the external_ref {ticket}")
    return threads[0]["id"]


def open_thread(message):
    """Opens a thread for a ticket. False if it has one."""
    contact = {name: message[name] for name in ("name", "email") if name in message}
    body = {"text": message["text"], "external_ref": message["ticket"], "contact": contact}
    try:
        api.post("/requests", body, idempotency_key=f"{message['id']}-open")
    except ScopegateError as error:
        if error.code != "conflict":
            raise
        return False
    return True


def bring(message):
    author = message.get("author", "customer")
    if message.get("close"):
        api.patch("/requests/{id}", {"status": "closed"}, id=thread_of(message["ticket"]))
    elif author == "organisation" or not open_thread(message):
        body = {"text": message["text"], "author": author, "author_name": message["name"]}
        # a key for each write, the same whenever it is tried again: it takes effect once
        key = f"{message['id']}-add"
        api.post("/requests/{id}/messages", body, id=thread_of(message["ticket"]), idempotency_key=key)


done = set(done_file.read_text().splitlines()) if done_file.exists() else set()
for line in filter(None, file.read_text(encoding="utf-8").split("\n")):
    message = json.loads(line)
    if message["id"] in done:
        continue
    bring(message)
    with done_file.open("a") as ids:
        ids.write(f"{message['id']}\n")
    print(message["id"], flush=True)
