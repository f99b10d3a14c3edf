"""Prints the totals of orders by month, again whenever orders change: python dashboard.py"""

import time
from threading import Event, Thread

from scopegate import Scopegate, format_amount

TOTALS = """{
  order_totals(group_by: [MONTH]) { data { month currency count total_minor } }
}"""
TYPES = ["order.created", "order.updated", "order.status_changed", "order.deleted", "feed.gap"]

api = Scopegate()
stale = Event()
stale.set()
failures = []


def follow(after):
    """Notes that totals are out of date. They are not read here, since an import makes thousands of events."""
    try:
        for _ in Scopegate().events(after=after, types=TYPES):
            stale.set()
    except Exception as error:
        failures.append(error)
        stale.set()


def show():
    # before it is read: what changes from now on needs another look
    stale.clear()
    for row in api.graphql(TOTALS)["order_totals"]["data"]:
        print(f"{row['month']} {row['count']} orders, {format_amount(row['total_minor'], row['currency'])}")
    print(flush=True)


# where the feed ends, noted before the first totals are read
cursor = api.get("/events", after="now")["next_cursor"]
Thread(target=follow, args=(cursor,), daemon=True).start()
while not failures:
    stale.wait()
    show()
    time.sleep(1)
raise failures[0]
