"""What the client does most, on what proxies change: tags, large headers, large answers, streams. client.mjs does the same."""
import os
import threading
import time

import requests
from scopegate import Scopegate, ScopegateError

api = Scopegate()
run = str(os.getpid())

orders = list(api.list("/orders"))
assert len(orders) > 700, "every page of a list"
page = api.get("/orders", id=[order["id"] for order in orders[:100]], limit=50, include=["customer"])
assert len(page["data"]) == 50, "a list by 100 ids"

id = api.get("/products", limit=1)["data"][0]["id"]
_, etag = api.read("/products/{id}", id=id)
first = etag
for name in ("one", "two", "three"):
    api.patch("/products/{id}", {"name": f"{name} {run}"}, id=id, if_match=etag)
    _, etag = api.read("/products/{id}", id=id)
try:
    api.patch("/products/{id}", {"name": "late"}, id=id, if_match=first)
    raise AssertionError("a change of an old version")
except ScopegateError as error:
    assert error.code == "precondition_failed", error
headers = {"Authorization": f"Bearer {os.environ['SCOPEGATE_KEY']}", "If-None-Match": etag}
unchanged = requests.get(f"{os.environ['SCOPEGATE_URL']}/api/v1/products/{id}", headers=headers, timeout=10)
assert unchanged.status_code == 304, "a read of what is unchanged"

# inactive, as the catalogue does not have them
element = {"name": "Bulk", "description": "lorem ipsum " * 40, "active": False}
products = [{"sku": f"{run}-{at}", **element} for at in range(500)]
for _ in range(2):
    report = api.post("/products/bulk", {"products": products}, idempotency_key=f"bulk-{run}")
    assert report["created"] == 500, "a bulk call, and its repetition"
found = api.graphql("{ orders(limit: 100) { data { id number total_minor customer { name } } } }")
assert len(found["orders"]["data"]) == 100, "a query"

after = api.get("/events", after="now")["next_cursor"]


def change() -> None:
    # once the stream is open
    time.sleep(1)
    Scopegate().patch("/products/{id}", {"name": f"streamed {run}"}, id=id)


threading.Thread(target=change).start()
began = time.monotonic()
# the bulk call's events may come first
for event in api.events(after=after, types=["product.updated"]):
    if event["object"] and event["object"]["id"] == id:
        break
assert time.monotonic() - began < 10, "an event within 10 s"
