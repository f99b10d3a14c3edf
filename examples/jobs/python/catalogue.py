"""Makes the catalogue equal to a file with one product a line: python catalogue.py products.ndjson

After a crash, run it again: what is stored already is `unchanged`.
"""

import json
import sys
import unicodedata
from collections import Counter

from scopegate import Scopegate

PER_CALL = 1000
"""How many elements a call takes."""
MOST_GONE = 0.1
"""If a larger share of the active products is not in the file, the file is more likely broken than right."""

api = Scopegate()
file = sys.argv[1] if len(sys.argv) > 1 else "products.ndjson"
counts = Counter()


def read(text, line):
    """A product of the file, and its line. A product that comes back is active again, unless the file says otherwise."""
    try:
        product = json.loads(text)
        if isinstance(product["sku"], str):
            return line, {"active": True, **product}
    except (ValueError, TypeError, KeyError):
        pass
    sys.exit(f"{file}:{line}: not a product with a sku, so nothing was sent")


def store(rows):
    """Stores products, and prints why some are not."""
    for start in range(0, len(rows), PER_CALL):
        batch = rows[start : start + PER_CALL]
        report = api.post("/products/bulk", {"products": [product for _, product in batch]})
        counts.update({outcome: report[outcome] for outcome in ("created", "updated", "unchanged", "failed")})
        for result in report["results"]:
            if result["outcome"] == "failed":
                faults = ("/".join(fault["pointer"].split("/")[3:]) + " " + fault["detail"] for fault in result["errors"])
                line, _ = batch[result["index"]]
                print(f"{file}:{line}: {result['sku']}: {'; '.join(faults)}", file=sys.stderr)


with open(file, encoding="utf-8") as lines:
    rows = [read(text, line) for line, text in enumerate(lines, 1) if text.strip()]
store(rows)

# the API stores and compares skus in this form
named = {unicodedata.normalize("NFC", product["sku"]) for _, product in rows}
active = [product["sku"] for product in api.list("/products", active=True)]
gone = [sku for sku in active if sku not in named]
if len(gone) > len(active) * MOST_GONE:
    sys.exit(f"{len(gone)} of {len(active)} active products are not in {file}, so none was deactivated")
store([(None, {"sku": sku, "active": False}) for sku in gone])

print(", ".join(f"{counts[outcome]} {outcome}" for outcome in ("created", "updated", "unchanged", "failed")), end=", ")
print(f"{len(gone)} deactivated")
sys.exit(1 if counts["failed"] else 0)
