"""Writes a month's orders to a CSV file whose amounts sum to the orders' totals: python orders.py 1996-07

There is a row for each line, and one for an order's VAT and for its shipping.
"""

import csv
import os
import re
import sys
from fractions import Fraction
from math import floor

from scopegate import Scopegate, format_amount

STATUS = ["placed", "confirmed", "in_production", "dispatched", "delivered", "completed"]
"""All but cancelled orders."""
HEADER = "number,placed_at,status,customer,currency,type,sku,description,qty,unit_price,discount_pct,amount"
TOTALS = """query Totals($from: DateTime, $to: DateTime, $status: [OrderStatus!]) {
  order_totals(from: $from, to: $to, status: $status) { data { currency count total_minor } }
}"""


def half_up(amount):
    return floor(amount + Fraction(1, 2))


def net_of(line):
    """What a line costs after its discount; both are rounded."""
    # the decimals as they are written; floating-point numbers would be a little off
    qty, percent = Fraction(str(line["qty"])), Fraction(str(line["discount_pct"]))
    gross = qty * line["unit_price_minor"]
    return half_up(gross) - half_up(gross * percent / 100)


def decimal(minor, currency):
    """1250 as 12.50, 1250 or 1.250, by the currency."""
    return re.sub(r"[^\d.-]", "", format_amount(minor, currency))


def rows_of(order):
    """The rows of an order. Their amounts sum to its total."""
    currency, customer = order["currency"], order["customer"]
    start = [order["number"], order["placed_at"], order["status"], customer["name"] if customer else "", currency]
    nets = [net_of(line) for line in order["lines"]]
    if sum(nets) != order["subtotal_minor"] - order["discount_minor"]:
        sys.exit(f"{order['number']}: its lines do not sum to its subtotal")
    for line, net in zip(order["lines"], nets):
        price = decimal(line["unit_price_minor"], currency)
        numbers = [line["qty"], price, line["discount_pct"], decimal(net, currency)]
        yield [*start, "line", line["sku"], line["description"], *numbers]
    for type in ("vat", "shipping"):
        if order[f"{type}_minor"] != 0:
            yield [*start, type, "", "", "", "", "", decimal(order[f"{type}_minor"], currency)]


api = Scopegate()
month = "".join(sys.argv[1:])
if not re.fullmatch(r"\d{4}-(0[1-9]|1[0-2])", month):
    sys.exit("name a month, such as 1996-07")
year, number = map(int, month.split("-"))
begin = f"{month}-01T00:00:00Z"
end = f"{year + number // 12:04}-{number % 12 + 1:02}-01T00:00:00Z"
file = f"orders-{month}.csv"
sums = {}
with open(f"{file}.part", "w", newline="", encoding="utf-8") as part:
    writer = csv.writer(part, lineterminator="\n")
    writer.writerow(HEADER.split(","))
    period = {"placed_since": begin, "placed_before": end, "status": STATUS}
    for order in api.list("/orders", **period, include=["lines", "customer"], sort="placed_at"):
        writer.writerows(rows_of(order))
        count, total = sums.get(order["currency"], (0, 0))
        sums[order["currency"]] = (count + 1, total + order["total_minor"])

totals = api.graphql(TOTALS, {"from": begin, "to": end, "status": STATUS})["order_totals"]["data"]
if sums != {row["currency"]: (row["count"], row["total_minor"]) for row in totals}:
    sys.exit("an order changed meanwhile, so nothing was written; run it again")
# complete or not there at all, whenever it is stopped
os.replace(f"{file}.part", file)
for currency, (count, total) in sums.items():
    print(f"{count} orders, {currency} {decimal(total, currency)}")
