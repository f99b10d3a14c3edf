# Written from openapi.json by `npm run clients`.
from collections.abc import Iterator, Sequence
from typing import Literal, overload

from .types import Address, AddressChange, AddressInput, Attachment, AttachmentInput, ChangedCustomer, ChangedProduct, ChangedRequest, Contact, ContactChange, ContactInput, Customer, CustomerPage, CustomerUpsert, CustomerUpsertReport, CustomerUpsertResult, CustomersBulkBody, ElementError, Event, EventFeed, EventGap, EventObject, EventOrigin, EventOriginKind, Fault, LineType, McpAccess, Me, MeKey, MeLimits, MeOrganisation, MeRateLimit, Message, MessageAuthor, MessagePage, Mode, Order, OrderItem, OrderLine, OrderPage, OrderStatus, PatchCustomersIdBody, PatchProductsIdBody, PatchRequestsIdBody, Problem, Product, ProductPage, ProductUpsert, ProductUpsertReport, ProductUpsertResult, ProductsBulkBody, Quote, QuoteItem, QuoteLine, QuotePage, QuoteStatus, Request, RequestContact, RequestContactInput, RequestPage, RequestStatus, RequestsBody, RequestsIdMessagesBody, UpsertOutcome

class Routes:
    @overload
    def get(self, path: Literal["/customers"], /, *, q: str | None = ..., id: Sequence[str] | None = ..., external_ref: str | None = ..., email: str | None = ..., metadata: Sequence[str] | None = ..., updated_since: str | None = ..., updated_before: str | None = ..., sort: Literal["created_at", "-created_at", "updated_at", "-updated_at", "name", "-name"] | None = ..., limit: int | None = ..., cursor: str | None = ...) -> CustomerPage:
        """List customers. Newest first by default. A customer is a company or person that buys from the organisation. Use this to find one by name, email or your own reference, and for the `customer_id` that other lists take.

        Requires the scope `customers:read`."""
    @overload
    def get(self, path: Literal["/customers/{id}"], /, *, id: str) -> Customer:
        """Get a customer.

        Requires the scope `customers:read`."""
    @overload
    def get(self, path: Literal["/events"], /, *, types: Sequence[Literal["customer.created", "customer.updated", "customer.erased", "customer.deleted", "order.created", "order.updated", "order.status_changed", "order.deleted", "product.created", "product.updated", "product.deleted", "quote.created", "quote.updated", "quote.status_changed", "quote.deleted", "request.created", "request.updated", "request.status_changed", "request.deleted", "request.message_added", "feed.gap"]] | None = ..., object_id: str | None = ..., after: str | None = ..., limit: int | None = ..., wait: int | None = ...) -> EventFeed:
        """List events: what changed in the organisation, oldest first, of the types whose read scope the key has. Ask again with `next_cursor`, which is never null. Use this to learn what changed since an earlier answer.

        Requires one of the scopes `products:read`, `quotes:read`, `orders:read`, `customers:read`, `requests:read`."""
    @overload
    def get(self, path: Literal["/me"], /) -> Me:
        """Get the calling key's organisation, plan, scopes, expiry and rate limit.

        Any valid key can call it."""
    @overload
    def get(self, path: Literal["/orders"], /, *, q: str | None = ..., id: Sequence[str] | None = ..., number: str | None = ..., external_ref: str | None = ..., status: Sequence[OrderStatus] | None = ..., customer_id: str | None = ..., placed_since: str | None = ..., placed_before: str | None = ..., metadata: Sequence[str] | None = ..., updated_since: str | None = ..., updated_before: str | None = ..., sort: Literal["created_at", "-created_at", "updated_at", "-updated_at", "placed_at", "-placed_at", "number", "-number"] | None = ..., limit: int | None = ..., cursor: str | None = ..., include: Sequence[Literal["lines", "customer"]] | None = ...) -> OrderPage:
        """List orders. What customers bought, newest first by default. Use this to find them by number, customer, status or date; `order_totals` sums them. REST returns the lines only with `include=lines`, and the customer only with `include=customer`.

        Requires the scope `orders:read`."""
    @overload
    def get(self, path: Literal["/orders/{id}"], /, *, id: str, include: Sequence[Literal["customer"]] | None = ...) -> Order:
        """Get an order with its lines.

        Requires the scope `orders:read`."""
    @overload
    def get(self, path: Literal["/products"], /, *, q: str | None = ..., id: Sequence[str] | None = ..., sku: Sequence[str] | None = ..., external_ref: str | None = ..., category: str | None = ..., active: bool | None = ..., metadata: Sequence[str] | None = ..., updated_since: str | None = ..., updated_before: str | None = ..., sort: Literal["created_at", "-created_at", "updated_at", "-updated_at", "name", "-name"] | None = ..., limit: int | None = ..., cursor: str | None = ...) -> ProductPage:
        """List products. Newest first by default. A product is an article that the organisation sells. Use this to find one by name, sku or category, or its price.

        Requires the scope `products:read`."""
    @overload
    def get(self, path: Literal["/products/{id}"], /, *, id: str) -> Product:
        """Get a product.

        Requires the scope `products:read`."""
    @overload
    def get(self, path: Literal["/quotes"], /, *, q: str | None = ..., id: Sequence[str] | None = ..., number: str | None = ..., external_ref: str | None = ..., status: Sequence[QuoteStatus] | None = ..., customer_id: str | None = ..., created_since: str | None = ..., created_before: str | None = ..., metadata: Sequence[str] | None = ..., updated_since: str | None = ..., updated_before: str | None = ..., sort: Literal["created_at", "-created_at", "updated_at", "-updated_at", "number", "-number"] | None = ..., limit: int | None = ..., cursor: str | None = ..., include: Sequence[Literal["lines", "customer"]] | None = ...) -> QuotePage:
        """List quotes. Offers to customers, newest first by default. Use this to find them by number, customer, status or date; `quote_totals` sums them. REST returns the lines only with `include=lines`, and the customer only with `include=customer`.

        Requires the scope `quotes:read`."""
    @overload
    def get(self, path: Literal["/quotes/{id}"], /, *, id: str, include: Sequence[Literal["customer"]] | None = ...) -> Quote:
        """Get a quote with its lines.

        Requires the scope `quotes:read`."""
    @overload
    def get(self, path: Literal["/requests"], /, *, q: str | None = ..., id: Sequence[str] | None = ..., status: Sequence[RequestStatus] | None = ..., customer_id: str | None = ..., external_ref: str | None = ..., metadata: Sequence[str] | None = ..., updated_since: str | None = ..., updated_before: str | None = ..., sort: Literal["created_at", "-created_at", "updated_at", "-updated_at"] | None = ..., limit: int | None = ..., cursor: str | None = ..., include: Sequence[Literal["customer"]] | None = ...) -> RequestPage:
        """List request threads. Newest first by default. A request is a conversation with a customer. Use this to find threads by words or customer, or those that wait for an answer (`open`).

        Requires the scope `requests:read`."""
    @overload
    def get(self, path: Literal["/requests/{id}"], /, *, id: str, include: Sequence[Literal["customer"]] | None = ...) -> Request:
        """Get a request thread. Use `request_messages` for its messages.

        Requires the scope `requests:read`."""
    @overload
    def get(self, path: Literal["/requests/{id}/messages"], /, *, id: str, limit: int | None = ..., cursor: str | None = ...) -> MessagePage:
        """List the messages of a request thread, oldest first. Use this to read a thread that `requests` found.

        Requires the scope `requests:read`."""
    @overload
    def read(self, path: Literal["/customers"], /, *, q: str | None = ..., id: Sequence[str] | None = ..., external_ref: str | None = ..., email: str | None = ..., metadata: Sequence[str] | None = ..., updated_since: str | None = ..., updated_before: str | None = ..., sort: Literal["created_at", "-created_at", "updated_at", "-updated_at", "name", "-name"] | None = ..., limit: int | None = ..., cursor: str | None = ...) -> tuple[CustomerPage, str | None]:
        """List customers. Newest first by default. A customer is a company or person that buys from the organisation. Use this to find one by name, email or your own reference, and for the `customer_id` that other lists take.

        Requires the scope `customers:read`."""
    @overload
    def read(self, path: Literal["/customers/{id}"], /, *, id: str) -> tuple[Customer, str | None]:
        """Get a customer.

        Requires the scope `customers:read`."""
    @overload
    def read(self, path: Literal["/events"], /, *, types: Sequence[Literal["customer.created", "customer.updated", "customer.erased", "customer.deleted", "order.created", "order.updated", "order.status_changed", "order.deleted", "product.created", "product.updated", "product.deleted", "quote.created", "quote.updated", "quote.status_changed", "quote.deleted", "request.created", "request.updated", "request.status_changed", "request.deleted", "request.message_added", "feed.gap"]] | None = ..., object_id: str | None = ..., after: str | None = ..., limit: int | None = ..., wait: int | None = ...) -> tuple[EventFeed, str | None]:
        """List events: what changed in the organisation, oldest first, of the types whose read scope the key has. Ask again with `next_cursor`, which is never null. Use this to learn what changed since an earlier answer.

        Requires one of the scopes `products:read`, `quotes:read`, `orders:read`, `customers:read`, `requests:read`."""
    @overload
    def read(self, path: Literal["/me"], /) -> tuple[Me, str | None]:
        """Get the calling key's organisation, plan, scopes, expiry and rate limit.

        Any valid key can call it."""
    @overload
    def read(self, path: Literal["/orders"], /, *, q: str | None = ..., id: Sequence[str] | None = ..., number: str | None = ..., external_ref: str | None = ..., status: Sequence[OrderStatus] | None = ..., customer_id: str | None = ..., placed_since: str | None = ..., placed_before: str | None = ..., metadata: Sequence[str] | None = ..., updated_since: str | None = ..., updated_before: str | None = ..., sort: Literal["created_at", "-created_at", "updated_at", "-updated_at", "placed_at", "-placed_at", "number", "-number"] | None = ..., limit: int | None = ..., cursor: str | None = ..., include: Sequence[Literal["lines", "customer"]] | None = ...) -> tuple[OrderPage, str | None]:
        """List orders. What customers bought, newest first by default. Use this to find them by number, customer, status or date; `order_totals` sums them. REST returns the lines only with `include=lines`, and the customer only with `include=customer`.

        Requires the scope `orders:read`."""
    @overload
    def read(self, path: Literal["/orders/{id}"], /, *, id: str, include: Sequence[Literal["customer"]] | None = ...) -> tuple[Order, str | None]:
        """Get an order with its lines.

        Requires the scope `orders:read`."""
    @overload
    def read(self, path: Literal["/products"], /, *, q: str | None = ..., id: Sequence[str] | None = ..., sku: Sequence[str] | None = ..., external_ref: str | None = ..., category: str | None = ..., active: bool | None = ..., metadata: Sequence[str] | None = ..., updated_since: str | None = ..., updated_before: str | None = ..., sort: Literal["created_at", "-created_at", "updated_at", "-updated_at", "name", "-name"] | None = ..., limit: int | None = ..., cursor: str | None = ...) -> tuple[ProductPage, str | None]:
        """List products. Newest first by default. A product is an article that the organisation sells. Use this to find one by name, sku or category, or its price.

        Requires the scope `products:read`."""
    @overload
    def read(self, path: Literal["/products/{id}"], /, *, id: str) -> tuple[Product, str | None]:
        """Get a product.

        Requires the scope `products:read`."""
    @overload
    def read(self, path: Literal["/quotes"], /, *, q: str | None = ..., id: Sequence[str] | None = ..., number: str | None = ..., external_ref: str | None = ..., status: Sequence[QuoteStatus] | None = ..., customer_id: str | None = ..., created_since: str | None = ..., created_before: str | None = ..., metadata: Sequence[str] | None = ..., updated_since: str | None = ..., updated_before: str | None = ..., sort: Literal["created_at", "-created_at", "updated_at", "-updated_at", "number", "-number"] | None = ..., limit: int | None = ..., cursor: str | None = ..., include: Sequence[Literal["lines", "customer"]] | None = ...) -> tuple[QuotePage, str | None]:
        """List quotes. Offers to customers, newest first by default. Use this to find them by number, customer, status or date; `quote_totals` sums them. REST returns the lines only with `include=lines`, and the customer only with `include=customer`.

        Requires the scope `quotes:read`."""
    @overload
    def read(self, path: Literal["/quotes/{id}"], /, *, id: str, include: Sequence[Literal["customer"]] | None = ...) -> tuple[Quote, str | None]:
        """Get a quote with its lines.

        Requires the scope `quotes:read`."""
    @overload
    def read(self, path: Literal["/requests"], /, *, q: str | None = ..., id: Sequence[str] | None = ..., status: Sequence[RequestStatus] | None = ..., customer_id: str | None = ..., external_ref: str | None = ..., metadata: Sequence[str] | None = ..., updated_since: str | None = ..., updated_before: str | None = ..., sort: Literal["created_at", "-created_at", "updated_at", "-updated_at"] | None = ..., limit: int | None = ..., cursor: str | None = ..., include: Sequence[Literal["customer"]] | None = ...) -> tuple[RequestPage, str | None]:
        """List request threads. Newest first by default. A request is a conversation with a customer. Use this to find threads by words or customer, or those that wait for an answer (`open`).

        Requires the scope `requests:read`."""
    @overload
    def read(self, path: Literal["/requests/{id}"], /, *, id: str, include: Sequence[Literal["customer"]] | None = ...) -> tuple[Request, str | None]:
        """Get a request thread. Use `request_messages` for its messages.

        Requires the scope `requests:read`."""
    @overload
    def read(self, path: Literal["/requests/{id}/messages"], /, *, id: str, limit: int | None = ..., cursor: str | None = ...) -> tuple[MessagePage, str | None]:
        """List the messages of a request thread, oldest first. Use this to read a thread that `requests` found.

        Requires the scope `requests:read`."""
    @overload
    def list(self, path: Literal["/customers"], /, *, q: str | None = ..., id: Sequence[str] | None = ..., external_ref: str | None = ..., email: str | None = ..., metadata: Sequence[str] | None = ..., updated_since: str | None = ..., updated_before: str | None = ..., sort: Literal["created_at", "-created_at", "updated_at", "-updated_at", "name", "-name"] | None = ..., limit: int | None = ...) -> Iterator[Customer]:
        """List customers. Newest first by default. A customer is a company or person that buys from the organisation. Use this to find one by name, email or your own reference, and for the `customer_id` that other lists take.

        Requires the scope `customers:read`."""
    @overload
    def list(self, path: Literal["/orders"], /, *, q: str | None = ..., id: Sequence[str] | None = ..., number: str | None = ..., external_ref: str | None = ..., status: Sequence[OrderStatus] | None = ..., customer_id: str | None = ..., placed_since: str | None = ..., placed_before: str | None = ..., metadata: Sequence[str] | None = ..., updated_since: str | None = ..., updated_before: str | None = ..., sort: Literal["created_at", "-created_at", "updated_at", "-updated_at", "placed_at", "-placed_at", "number", "-number"] | None = ..., limit: int | None = ..., include: Sequence[Literal["lines", "customer"]] | None = ...) -> Iterator[OrderItem]:
        """List orders. What customers bought, newest first by default. Use this to find them by number, customer, status or date; `order_totals` sums them. REST returns the lines only with `include=lines`, and the customer only with `include=customer`.

        Requires the scope `orders:read`."""
    @overload
    def list(self, path: Literal["/products"], /, *, q: str | None = ..., id: Sequence[str] | None = ..., sku: Sequence[str] | None = ..., external_ref: str | None = ..., category: str | None = ..., active: bool | None = ..., metadata: Sequence[str] | None = ..., updated_since: str | None = ..., updated_before: str | None = ..., sort: Literal["created_at", "-created_at", "updated_at", "-updated_at", "name", "-name"] | None = ..., limit: int | None = ...) -> Iterator[Product]:
        """List products. Newest first by default. A product is an article that the organisation sells. Use this to find one by name, sku or category, or its price.

        Requires the scope `products:read`."""
    @overload
    def list(self, path: Literal["/quotes"], /, *, q: str | None = ..., id: Sequence[str] | None = ..., number: str | None = ..., external_ref: str | None = ..., status: Sequence[QuoteStatus] | None = ..., customer_id: str | None = ..., created_since: str | None = ..., created_before: str | None = ..., metadata: Sequence[str] | None = ..., updated_since: str | None = ..., updated_before: str | None = ..., sort: Literal["created_at", "-created_at", "updated_at", "-updated_at", "number", "-number"] | None = ..., limit: int | None = ..., include: Sequence[Literal["lines", "customer"]] | None = ...) -> Iterator[QuoteItem]:
        """List quotes. Offers to customers, newest first by default. Use this to find them by number, customer, status or date; `quote_totals` sums them. REST returns the lines only with `include=lines`, and the customer only with `include=customer`.

        Requires the scope `quotes:read`."""
    @overload
    def list(self, path: Literal["/requests"], /, *, q: str | None = ..., id: Sequence[str] | None = ..., status: Sequence[RequestStatus] | None = ..., customer_id: str | None = ..., external_ref: str | None = ..., metadata: Sequence[str] | None = ..., updated_since: str | None = ..., updated_before: str | None = ..., sort: Literal["created_at", "-created_at", "updated_at", "-updated_at"] | None = ..., limit: int | None = ..., include: Sequence[Literal["customer"]] | None = ...) -> Iterator[Request]:
        """List request threads. Newest first by default. A request is a conversation with a customer. Use this to find threads by words or customer, or those that wait for an answer (`open`).

        Requires the scope `requests:read`."""
    @overload
    def list(self, path: Literal["/requests/{id}/messages"], /, *, id: str, limit: int | None = ...) -> Iterator[Message]:
        """List the messages of a request thread, oldest first. Use this to read a thread that `requests` found.

        Requires the scope `requests:read`."""
    @overload
    def post(self, path: Literal["/customers/bulk"], body: CustomersBulkBody, /, *, idempotency_key: str | None = ...) -> CustomerUpsertReport:
        """Create or update up to 1,000 customers in one call, matched by external_ref. Omitted fields are unchanged; null clears a field. Costs a point per 100 elements, rounded up.

        Requires the scope `customers:write`."""
    @overload
    def post(self, path: Literal["/products/bulk"], body: ProductsBulkBody, /, *, idempotency_key: str | None = ...) -> ProductUpsertReport:
        """Create or update up to 1,000 products in one call, matched by sku. Omitted fields are unchanged; null clears a field. Costs a point per 100 elements, rounded up.

        Requires the scope `products:write`."""
    @overload
    def post(self, path: Literal["/requests"], body: RequestsBody, /, *, idempotency_key: str | None = ...) -> Request:
        """Create a request thread with its first message.

        Requires the scope `requests:write`."""
    @overload
    def post(self, path: Literal["/requests/{id}/messages"], body: RequestsIdMessagesBody, /, *, id: str, idempotency_key: str | None = ...) -> Message:
        """Add a message to a request thread. One by the customer makes the thread `open`, even if it was closed; one by the organisation makes it `answered`, unless it is closed.

        Requires the scope `requests:write`."""
    @overload
    def patch(self, path: Literal["/customers/{id}"], body: PatchCustomersIdBody, /, *, id: str, idempotency_key: str | None = ..., if_match: str | None = ...) -> ChangedCustomer:
        """Change a customer. Omitted members are unchanged; null clears a member. Strings must not contain control characters other than tabs and line breaks. A change that changes nothing stores nothing, and keeps `updated_at`.

        Requires the scope `customers:write`. Without `customers:read` its answer has only `id` and the members that were sent."""
    @overload
    def patch(self, path: Literal["/products/{id}"], body: PatchProductsIdBody, /, *, id: str, idempotency_key: str | None = ..., if_match: str | None = ...) -> ChangedProduct:
        """Change a product. Omitted members are unchanged; null clears a member. Strings must not contain control characters other than tabs and line breaks. A change that changes nothing stores nothing, and keeps `updated_at`.

        Requires the scope `products:write`. Without `products:read` its answer has only `id` and the members that were sent."""
    @overload
    def patch(self, path: Literal["/requests/{id}"], body: PatchRequestsIdBody, /, *, id: str, idempotency_key: str | None = ..., if_match: str | None = ...) -> ChangedRequest:
        """Change a request thread: close or reopen it, assign it to a customer, give it your own reference. Omitted members are unchanged; null clears a member. A change that changes nothing stores nothing, and keeps `updated_at`.

        Requires the scope `requests:write`. Without `requests:read` its answer has only `id` and the members that were sent."""
