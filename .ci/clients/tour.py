"""What a program does with the client that openapi-python-client makes: each step ends the tour where it does not hold."""

import os
import sys
from uuid import UUID

from scopegate import AuthenticatedClient, models
from scopegate.api.customers import list_customers
from scopegate.api.me import get_me
from scopegate.api.orders import get_order, list_orders
from scopegate.api.products import list_products, upsert_products
from scopegate.api.requests import open_request

NOBODY = UUID("00000000-0000-4000-8000-000000000000")

client = AuthenticatedClient(base_url=f"{os.environ['SCOPEGATE_URL']}/api/v1", token=os.environ["SCOPEGATE_KEY"])


def expect(step: str, found: object, expected: object) -> None:
    if found != expected:
        sys.exit(f"{step}: {found!r} is not {expected!r}")


expect("me", get_me.sync(client=client).organisation.name, "Northwind Traders")
expect("list", [product.name for product in list_products.sync(client=client, q="chai").data], ["Chai"])
# addresses and contacts, null and not
expect("list all", len(list_customers.sync(client=client, limit=100).data), 91)
page = list_orders.sync(client=client, status=[models.OrderStatus.COMPLETED], limit=1)
order = get_order.sync(page.data[0].id, client=client)
expect("get", order.number, page.data[0].number)
expect("lines", order.lines[0].position, 0)
body = models.UpsertProductsBody(
    products=[models.ProductUpsert(sku="CLIENT-PY", name="Made", category=None), models.ProductUpsert(name="No sku")]
)
report = upsert_products.sync(client=client, body=body)
expect("bulk", (report.created, report.failed), (1, 1))
expect("bulk fault", (report.results[1].errors[0].pointer, report.results[1].errors[0].code), ("/products/1/sku", "required"))
expect("write", open_request.sync(client=client, body=models.OpenRequestBody(text="Hello")).status.value, "open")
problem = get_order.sync(NOBODY, client=client)
expect("problem", (type(problem).__name__, problem.code, problem.status), ("Problem", "not_found", 404))
print("openapi-python-client: list, get, bulk, write, problem")
