"""Makes the catalogue equal to a file with one product a line: python catalogue.py products.ndjson

After a crash, run it again: what is stored already is `unchanged`.
"""

import json
import sys
import unicodedata

from scopegate import Scopegate

PER_CALL = 1000
"""How many elements a call takes."""
MOST_GONE = 0.1
"""If a larger share of the active products is not in the file, the file is more likely broken than right."""

api = Scopegate()
file = sys.argv[1] if len(sys.argv) > 1 else "products.ndjson"
counts = dict.fromkeys(("created", "updated", "unchanged", "failed", "deactivated"), 0)


def fail(where, why):
    counts["failed"] += 1
    print(f"{where}: {why}", file=sys.stderr)


def read(text, where):
    """A product of the file, and where it is. One that comes back is active again, unless the file says otherwise."""
    try:
        if text.startswith("{"):
            return where, {"active": True, **json.loads(text)}
    except ValueError:
        pass
    sys.exit(f"{where}: not a product, so nothing was sent")


def store(rows, changed):
    """Stores products, and prints why some are not."""
    for start in range(0, len(rows), PER_CALL):
        batch = rows[start : start + PER_CALL]
        report = api.post("/products/bulk", {"products": [product for _, product in batch]})
        counts["created"] += report["created"]
        counts[changed] += report["updated"]
        counts["unchanged"] += report["unchanged"]
        for result in report["results"]:
            if result["outcome"] == "failed":
                faults = ("/".join(fault["pointer"].split("/")[3:]) + " " + fault["detail"] for fault in result["errors"])
                where, _ = batch[result["index"]]
                fail(where, f"{result['sku']}: {'; '.join(faults)}")


with open(file, encoding="utf-8") as lines:
    rows = [read(text.strip(), f"{file}:{line}") for line, text in enumerate(lines, 1) if text.strip()]

# by sku, in the form in which the API stores and compares them
named = {}
for where, product in rows:
    sku = product.get("sku")
    key = unicodedata.normalize("NFC", sku) if isinstance(sku, str) else None
    if key is None:
        fail(where, "sku must be a text")
    elif key in named:
        fail(where, f"{sku}: sku is that of {named[key][0]}")
    else:
        named[key] = where, product
store(list(named.values()), "updated")

active = [product["sku"] for product in api.list("/products", active=True)]
gone = [sku for sku in active if sku not in named]
is_broken = len(gone) > len(active) * MOST_GONE
if not is_broken:
    store([(f"not in {file}", {"sku": sku, "active": False}) for sku in gone], "deactivated")

print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()), flush=True)
if is_broken:
    print(f"{len(gone)} of {len(active)} active products are not in {file}, so none was deactivated", file=sys.stderr)
sys.exit(1 if is_broken or counts["failed"] else 0)
