"""SCOPEGATE_URL=http://127.0.0.1:4000 SCOPEGATE_KEY=svc_live_… python tour.py

The key needs products:read, products:write and orders:read.
"""

import sys
from collections import Counter

from scopegate import Scopegate, ScopegateError, format_amount


def main() -> None:
    api = Scopegate()

    me = api.get("/me")
    print(f"key {me['key']['prefix']}… of {me['organisation']['name']}, {me['rate_limit']['remaining']} requests left")

    totals: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for order in api.list("/orders", status=["confirmed", "dispatched", "completed"]):
        totals[order["currency"]] += order["total_minor"]
        counts[order["currency"]] += 1
    # never add two currencies
    for currency, minor in totals.items():
        print(f"{counts[currency]} orders in {currency}, {format_amount(minor, currency)} in total")

    report = api.post(
        "/products/bulk",
        {
            "products": [
                {"sku": "PY-1", "name": "Tour ticket", "unit_price_minor": 1250, "currency": "EUR"},
                {"sku": "PY-2", "name": "Guide", "active": False},
                {"sku": "PY-3"},
            ]
        },
    )
    print(f"products: {report['created']} created, {report['updated']} updated, ", end="")
    print(f"{report['unchanged']} unchanged, {report['failed']} failed")
    for result in report["results"]:
        for fault in result["errors"]:
            print(f"  {fault['pointer']}: {fault['detail']}")


if __name__ == "__main__":
    try:
        main()
    except ScopegateError as error:
        sys.exit(f"{error} (request {error.request_id})")
