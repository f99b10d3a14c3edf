# Written from openapi.json by `npm run clients`.
"""The objects of the API. They are dicts; these types are for editors and type checkers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired

class CustomerPage(TypedDict):
    """A page of customers."""

    data: list[Customer]
    """The customers of this page."""
    has_more: bool
    """Whether there is a next page."""
    next_cursor: str | None
    """Cursor for the next page; null on the last page."""


class Customer(TypedDict):
    """A customer of the organisation."""

    id: str
    """Id of the customer (UUID)."""
    external_ref: str
    """The customer's id in the organisation's own systems; unique in the organisation."""
    name: str
    """Name."""
    email: str | None
    """Email address."""
    phone: str | None
    """Phone number, as free text."""
    vat_number: str | None
    """VAT registration number."""
    billing_address: Address | None
    """Billing address."""
    delivery_address: Address | None
    """Delivery address."""
    contacts: list[Contact]
    """Contacts at the customer."""
    erased_at: str | None
    """When its personal data was erased; null if it was not. Writes to an erased customer fail with the code `erased`."""
    metadata: dict[str, str]
    """Metadata: what the organisation has added, at most 50 pairs. On REST an object, which is empty if there are none."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""


class Address(TypedDict):
    """A postal address."""

    line1: str
    """First line: street and number."""
    line2: str | None
    """Second line: building, floor, c/o."""
    city: str
    """City or town."""
    region: str | None
    """State, province or region."""
    postcode: str | None
    """Postal code."""
    country: str
    """Country, as free text."""


class Contact(TypedDict):
    """A contact at a customer."""

    id: str
    """Id of the contact (UUID)."""
    name: str
    """Name."""
    role: str | None
    """Role."""
    email: str | None
    """Email address."""
    phone: str | None
    """Phone number."""
    primary: bool
    """Whether this is the primary contact."""


class EventFeed(TypedDict):
    """Events, oldest first."""

    data: list[Event]
    """The events of this page. With filters a page may be empty although `has_more` is true."""
    has_more: bool
    """Whether there are more events now."""
    next_cursor: str
    """Next `after`, now or later; never null."""


class Event(TypedDict):
    """Something that happened to an object: it was created, changed or deleted. An event does not contain the object, which can be read by
    its id. All events of an object are in the order in which they were committed."""

    id: str
    """Id of the event (UUID); always the same for the same event."""
    type: str
    """What happened, for example `quote.status_changed`. `feed.gap` means that events may be missing: see `gap`. Ignore types that you do not know."""
    occurred_at: str
    """When the change was committed."""
    object: EventObject | None
    """The object it happened to; null for `feed.gap`."""
    changes: list[str]
    """Names of the fields that changed; empty if the object was created or deleted, or if they are not known. Nested fields count as the field that contains them."""
    status: str | None
    """Status of the object after the change; null if the object has none, or was deleted by then."""
    related: EventObject | None
    """The message that was added to the thread, or changed in it; null for events of the object itself."""
    gap: EventGap | None
    """For `feed.gap`: the times between which events may be missing. Null for all other types."""
    origin: EventOrigin | None
    """Who caused it. Null for `feed.gap`, for the events that follow it because history was lost, and for events that were stored before origins were."""


class EventObject(TypedDict):
    """The object of an event, or the message that changed in it."""

    type: str
    """Type of the object: product, customer, quote, order, request or message."""
    id: str
    """Id of the object."""


EventGap = TypedDict("EventGap", {"from": "str", "to": "str"})
"""A time in which events may be missing. Copy the data again, or read what changed since `from` with `updated_since`; if `from` and `to` are equal, only a new copy helps: a collection was replaced, or the database restored from a backup."""


class EventOrigin(TypedDict):
    """Who caused an event. An integration recognises its own writes by the id of its key, which `GET /me` returns as `key.id`; a key that replaced
    another has an id of its own."""

    kind: EventOriginKind
    """What kind of writer it was. Accept kinds that you do not know."""
    id: str | None
    """Id of the key or user; null for the other kinds."""
    name: str | None
    """Name of the operator's token; null for the command line and for the other kinds."""


EventOriginKind = Literal["key", "user", "operator", "other"]
"""Kind of writer that caused an event.
- `key`: An API key.
- `user`: A user who is signed in to the settings page.
- `operator`: Whoever runs the gateway: over the operator API or on the command line, imports included.
- `other`: Another program that writes to the database itself, such as the product that owns the data."""


class Me(TypedDict):
    """The calling key and its organisation."""

    mode: Mode
    """`live`, or `test` with a key of a sandbox, whose answers have the header `Scopegate-Mode: test`."""
    organisation: MeOrganisation
    """The organisation the key belongs to."""
    key: MeKey
    """The key itself."""
    rate_limit: MeRateLimit
    """The rate limit of the key in the current window."""
    organisation_rate_limit: MeRateLimit
    """The rate limit of all keys of the organisation together, in the current window: each point of a key counts here too."""


Mode = Literal["live", "test"]
"""Whether a key reads and writes the organisation's own data.
- `live`: The organisation's own data.
- `test`: Data of the organisation's sandbox, for trying out."""


class MeOrganisation(TypedDict):
    """The organisation a key belongs to."""

    id: str
    """Id of the organisation (UUID)."""
    name: str
    """Name."""
    plan: str
    """Plan."""
    limits: MeLimits
    """What its plan includes, beside the rate limits."""


class MeLimits(TypedDict):
    """What an organisation may have on its plan. What it has beyond a limit works on; more is refused."""

    active_keys: int
    """Active keys. Keys that replace others may exceed it."""
    webhook_endpoints: int
    """Webhook endpoints."""
    bytes: int | None
    """Bytes that it may store, with indexes, beyond which its writes get 422 `quota_exceeded`; null for no limit."""


class MeKey(TypedDict):
    """The calling key, without its value."""

    id: str
    """Id of the key (UUID)."""
    name: str
    """Name of the key."""
    prefix: str
    """First characters of the key, to recognise it."""
    scopes: list[str]
    """Scopes of the key, as `resource:action`."""
    expires_at: str | None
    """When the key expires; null if never."""
    mcp: McpAccess
    """What assistants may do with it over MCP."""
    customer_ids: list[str] | None
    """Ids of the customers that the key is restricted to; null if it has the data of all."""


McpAccess = Literal["off", "read", "write"]
"""What assistants may do with a key over the Model Context Protocol, within its scopes.
- `off`: Nothing: every call fails.
- `read`: Call operations that read.
- `write`: Call operations that read or write."""


class MeRateLimit(TypedDict):
    """A rate limit, in points per minute, shared by REST and GraphQL. A REST request costs one point. A GraphQL request costs
    one point per root field, and one per full 1,000 rows that it can return in the worst case: the `limit` of each list times the
    limits of the lists that contain it, summed over all lists, at most 20,000. The `etag` of a row, or the `cursor` of an event, counts as a
    row for the points. A document that is new to the gateway costs one more per 200 tokens after the first 200, rounded up. A bulk call costs one point per 100 elements, rounded up. Points are charged before the
    request is executed."""

    limit: int
    """Points per window."""
    remaining: int
    """Points left in this window."""
    reset_at: str
    """When the window ends."""


class OrderPage(TypedDict):
    """A page of orders."""

    data: list[OrderItem]
    """The orders of this page."""
    has_more: bool
    """Whether there is a next page."""
    next_cursor: str | None
    """Cursor for the next page; null on the last page."""


class OrderItem(TypedDict):
    """An order from a customer. total_minor = subtotal_minor - discount_minor + vat_minor + shipping_minor."""

    id: str
    """Id of the order (UUID)."""
    number: str
    """Number; unique in the organisation."""
    external_ref: str | None
    """The id of the order in the product's own database; unique in the organisation if given. Programs of the operator set it."""
    status: OrderStatus
    """Status of the order."""
    currency: str
    """Currency of all amounts (ISO 4217)."""
    subtotal_minor: int
    """Sum of the lines before discount, in minor units."""
    discount_minor: int
    """Discount, in minor units."""
    vat_minor: int
    """VAT, in minor units."""
    shipping_minor: int
    """Shipping, in minor units."""
    total_minor: int
    """Total to pay, in minor units."""
    customer_id: str | None
    """Id of the customer."""
    quote_id: str | None
    """Id of the quote that led to the order."""
    customer_reference: str | None
    """The customer's own reference."""
    placed_at: str
    """When it was placed."""
    required_by: str | None
    """Date by which the customer needs the goods."""
    dispatched_at: str | None
    """When it was dispatched."""
    delivery_address: Address | None
    """Delivery address."""
    metadata: dict[str, str]
    """Metadata: what the organisation has added, at most 50 pairs. On REST an object, which is empty if there are none."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""
    lines: NotRequired[list[OrderLine]]
    """The lines, by position. Only with `include=lines`."""
    customer: NotRequired[Customer | None]
    """The customer. Only with `include=customer`."""


OrderStatus = Literal["placed", "confirmed", "in_production", "dispatched", "delivered", "completed", "cancelled"]
"""Status of an order.
- `placed`: Received from the customer.
- `confirmed`: Confirmed by the organisation.
- `in_production`: In production.
- `dispatched`: Shipped to the customer.
- `delivered`: Delivered to the customer.
- `completed`: Completed.
- `cancelled`: Cancelled."""


class Order(TypedDict):
    """An order from a customer. total_minor = subtotal_minor - discount_minor + vat_minor + shipping_minor."""

    id: str
    """Id of the order (UUID)."""
    number: str
    """Number; unique in the organisation."""
    external_ref: str | None
    """The id of the order in the product's own database; unique in the organisation if given. Programs of the operator set it."""
    status: OrderStatus
    """Status of the order."""
    currency: str
    """Currency of all amounts (ISO 4217)."""
    subtotal_minor: int
    """Sum of the lines before discount, in minor units."""
    discount_minor: int
    """Discount, in minor units."""
    vat_minor: int
    """VAT, in minor units."""
    shipping_minor: int
    """Shipping, in minor units."""
    total_minor: int
    """Total to pay, in minor units."""
    customer_id: str | None
    """Id of the customer."""
    quote_id: str | None
    """Id of the quote that led to the order."""
    customer_reference: str | None
    """The customer's own reference."""
    placed_at: str
    """When it was placed."""
    required_by: str | None
    """Date by which the customer needs the goods."""
    dispatched_at: str | None
    """When it was dispatched."""
    delivery_address: Address | None
    """Delivery address."""
    metadata: dict[str, str]
    """Metadata: what the organisation has added, at most 50 pairs. On REST an object, which is empty if there are none."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""
    lines: list[OrderLine]
    """The lines, by position."""
    customer: NotRequired[Customer | None]
    """The customer. Only with `include=customer`."""


class OrderLine(TypedDict):
    """A line of an order."""

    id: str
    """Id of the line (UUID)."""
    position: int
    """Position in the order, from 0."""
    line_type: LineType
    """Type of the line."""
    description: str
    """Description of the item."""
    qty: float
    """Quantity, 0 to 1,000,000,000; may be fractional."""
    uom: str
    """Unit of measure."""
    unit_price_minor: int
    """Unit price in minor units."""
    discount_pct: float
    """Discount in percent, 0 to 100. qty times unit_price_minor, and discount_pct percent of it, are each rounded half up to whole minor units; their difference is the line's net."""
    vat_exempt: bool
    """Whether the line is exempt from VAT."""
    lead_time_days: int | None
    """Days from order to dispatch."""
    sku: str | None
    """SKU of the product."""


LineType = Literal["product", "configured", "service", "manual"]
"""Type of a line.
- `product`: A product from the catalogue.
- `configured`: A product configured for the customer.
- `service`: Labour or a service.
- `manual`: Anything else, entered by hand."""


class ProductPage(TypedDict):
    """A page of products."""

    data: list[Product]
    """The products of this page."""
    has_more: bool
    """Whether there is a next page."""
    next_cursor: str | None
    """Cursor for the next page; null on the last page."""


class Product(TypedDict):
    """A product of the organisation."""

    id: str
    """Id of the product (UUID)."""
    sku: str
    """Stock keeping unit; unique in the organisation."""
    external_ref: str | None
    """The id of the product in the product's own database; unique in the organisation if given. Programs of the operator set it."""
    name: str
    """Name."""
    description: str | None
    """Description."""
    category: str | None
    """Category."""
    uom: str
    """Unit of measure of the price, e.g. each, kg, m."""
    currency: str
    """Currency of the price (ISO 4217)."""
    unit_price_minor: int | None
    """Unit price in minor units; null if on request."""
    vat_exempt: bool
    """Whether the product is exempt from VAT."""
    lead_time_days: int | None
    """Days from order to dispatch."""
    active: bool
    """Whether the product is on sale."""
    metadata: dict[str, str]
    """Metadata: what the organisation has added, at most 50 pairs. On REST an object, which is empty if there are none."""
    attachments: list[Attachment]
    """Files attached to the product, at most 20, oldest first. They are added, read and deleted on REST."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""


class Attachment(TypedDict):
    """A file that was attached to an object. On REST its bytes are at `/attachments/{id}` below the object."""

    id: str
    """Id of the attachment (UUID)."""
    file_name: str
    """Name of the file, as its `Content-Disposition` had it: 1 to 255 bytes of UTF-8."""
    content_type: str
    """Media type of the file, without parameters. Texts are UTF-8."""
    size: int
    """Size in bytes, at most 10,485,760 (10 MiB)."""
    sha256: str
    """SHA-256 of the bytes, as 64 hexadecimal digits in lower case."""
    created_at: str
    """When it was attached."""


class QuotePage(TypedDict):
    """A page of quotes."""

    data: list[QuoteItem]
    """The quotes of this page."""
    has_more: bool
    """Whether there is a next page."""
    next_cursor: str | None
    """Cursor for the next page; null on the last page."""


class QuoteItem(TypedDict):
    """An offer to a customer. total_minor = subtotal_minor - discount_minor + vat_minor."""

    id: str
    """Id of the quote (UUID)."""
    number: str
    """Number; unique in the organisation."""
    external_ref: str | None
    """The id of the quote in the product's own database; unique in the organisation if given. Programs of the operator set it."""
    status: QuoteStatus
    """Status of the quote."""
    currency: str
    """Currency of all amounts (ISO 4217)."""
    subtotal_minor: int
    """Sum of the lines before discount, in minor units."""
    discount_minor: int
    """Discount, in minor units."""
    vat_minor: int
    """VAT, in minor units."""
    total_minor: int
    """Total to pay, in minor units."""
    valid_until: str | None
    """Last day on which the quote is valid."""
    customer_id: str | None
    """Id of the customer."""
    sent_at: str | None
    """When it was sent. Set in every status except draft and withdrawn."""
    decided_at: str | None
    """When it was accepted or declined; null in any other status."""
    metadata: dict[str, str]
    """Metadata: what the organisation has added, at most 50 pairs. On REST an object, which is empty if there are none."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""
    lines: NotRequired[list[QuoteLine]]
    """The lines, by position. Only with `include=lines`."""
    customer: NotRequired[Customer | None]
    """The customer. Only with `include=customer`."""


QuoteStatus = Literal["draft", "sent", "accepted", "declined", "expired", "withdrawn"]
"""Status of a quote.
- `draft`: Draft.
- `sent`: Sent to the customer.
- `accepted`: Accepted by the customer.
- `declined`: Declined by the customer.
- `expired`: Not accepted or declined by valid_until.
- `withdrawn`: Withdrawn by the organisation."""


class Quote(TypedDict):
    """An offer to a customer. total_minor = subtotal_minor - discount_minor + vat_minor."""

    id: str
    """Id of the quote (UUID)."""
    number: str
    """Number; unique in the organisation."""
    external_ref: str | None
    """The id of the quote in the product's own database; unique in the organisation if given. Programs of the operator set it."""
    status: QuoteStatus
    """Status of the quote."""
    currency: str
    """Currency of all amounts (ISO 4217)."""
    subtotal_minor: int
    """Sum of the lines before discount, in minor units."""
    discount_minor: int
    """Discount, in minor units."""
    vat_minor: int
    """VAT, in minor units."""
    total_minor: int
    """Total to pay, in minor units."""
    valid_until: str | None
    """Last day on which the quote is valid."""
    customer_id: str | None
    """Id of the customer."""
    sent_at: str | None
    """When it was sent. Set in every status except draft and withdrawn."""
    decided_at: str | None
    """When it was accepted or declined; null in any other status."""
    metadata: dict[str, str]
    """Metadata: what the organisation has added, at most 50 pairs. On REST an object, which is empty if there are none."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""
    lines: list[QuoteLine]
    """The lines, by position."""
    customer: NotRequired[Customer | None]
    """The customer. Only with `include=customer`."""


class QuoteLine(TypedDict):
    """A line of a quote."""

    id: str
    """Id of the line (UUID)."""
    position: int
    """Position in the quote, from 0."""
    line_type: LineType
    """Type of the line."""
    description: str
    """Description of the item."""
    qty: float
    """Quantity, 0 to 1,000,000,000; may be fractional."""
    uom: str
    """Unit of measure."""
    unit_price_minor: int
    """Unit price in minor units."""
    discount_pct: float
    """Discount in percent, 0 to 100. qty times unit_price_minor, and discount_pct percent of it, are each rounded half up to whole minor units; their difference is the line's net."""
    vat_exempt: bool
    """Whether the line is exempt from VAT."""
    lead_time_days: int | None
    """Days from order to dispatch."""


class RequestPage(TypedDict):
    """A page of request threads."""

    data: list[Request]
    """The threads of this page."""
    has_more: bool
    """Whether there is a next page."""
    next_cursor: str | None
    """Cursor for the next page; null on the last page."""


class Request(TypedDict):
    """A thread of messages between a customer and the organisation."""

    id: str
    """Id of the thread (UUID)."""
    subject: str
    """Subject."""
    status: RequestStatus
    """Status of the thread."""
    customer_id: str | None
    """Id of the customer."""
    contact: RequestContact | None
    """The person who sent the request."""
    external_ref: str | None
    """The caller's own reference for the thread, such as a ticket number; unique in the organisation if given."""
    message_count: int
    """Number of messages."""
    last_message_at: str
    """When the last message was written."""
    metadata: dict[str, str]
    """Metadata: what the organisation has added, at most 50 pairs. On REST an object, which is empty if there are none."""
    attachments: list[Attachment]
    """Files attached to the thread, at most 20, oldest first. They are added, read and deleted on REST."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""
    customer: NotRequired[Customer | None]
    """The customer. Only with `include=customer`."""


RequestStatus = Literal["open", "answered", "closed"]
"""Status of a request thread.
- `open`: Waiting for the organisation.
- `answered`: Answered by the organisation.
- `closed`: Closed."""


class RequestContact(TypedDict):
    """The person who sent the request."""

    name: str
    """Name."""
    email: str | None
    """Email address."""
    phone: str | None
    """Phone number."""


class MessagePage(TypedDict):
    """A page of messages."""

    data: list[Message]
    """The messages of this page."""
    has_more: bool
    """Whether there is a next page."""
    next_cursor: str | None
    """Cursor for the next page; null on the last page."""


class Message(TypedDict):
    """A message of a request thread."""

    id: str
    """Id of the message (UUID)."""
    request_id: str
    """Id of the thread."""
    external_ref: str | None
    """The id of the message in the product's own database; unique in the organisation if given. Programs of the operator set it."""
    author: MessageAuthor
    """Who wrote the message."""
    author_name: str | None
    """Name of the author. In the answer to a key that adds the message without the scope `requests:read`: the name that it sent, or null."""
    body: str
    """The text."""
    created_at: str
    """When it was written."""


MessageAuthor = Literal["customer", "organisation"]
"""Who wrote the message.
- `customer`: The customer.
- `organisation`: The organisation."""


class CustomerUpsertReport(TypedDict):
    """The result of a bulk call for customers."""

    created: int
    """Number created."""
    updated: int
    """Number updated."""
    unchanged: int
    """Number unchanged."""
    failed: int
    """Number failed."""
    results: list[CustomerUpsertResult]
    """One result per element, in request order."""


class CustomerUpsertResult(TypedDict):
    """The result of a bulk call for one customer."""

    index: int
    """Index of the element in the call, from 0."""
    external_ref: str | None
    """The external_ref as sent, truncated to 64 characters; null if missing."""
    id: str | None
    """Id of the customer; null if the element failed or, in a dry run, would be created."""
    outcome: UpsertOutcome
    """What happened to the element."""
    errors: list[ElementError]
    """Why it failed; empty otherwise. At most 10 errors per element and 100 per call; an error with the code `more` has the number of the others."""


UpsertOutcome = Literal["created", "updated", "unchanged", "failed"]
"""The outcome of one element of a bulk call; in a dry run, the outcome it would have.
- `created`: Created.
- `updated`: Exists; at least one field was changed.
- `unchanged`: Exists; nothing changed, including updated_at.
- `failed`: Rejected; see `errors`. The other elements are unaffected unless the call is atomic."""


class ElementError(TypedDict):
    """An error in one element of a bulk call, or the number of errors not listed: a response lists at most 10 errors per element and 100 per call."""

    pointer: str
    """JSON Pointer (RFC 6901) to the invalid value, from the root of the body: /products/3/sku. Truncated to 120 characters."""
    code: str
    """Error code: required, type, format, length, range, not_allowed, unknown, duplicate, conflict, erased, not_found, invalid or rule; `more` is the number of errors not listed, with a pointer to the element."""
    detail: str
    """Human-readable description of the error."""


class CustomerUpsert(TypedDict):
    """Input for a customer in a bulk call. `external_ref` is always required, `name` if the customer is new; they are nullable here,
    so that only the element fails without them. A customer can be sent back exactly as it was read. Strings must not contain
    control characters other than tabs and line breaks."""

    id: NotRequired[str | None]
    """Ignored, since `external_ref` identifies the customer; but the element fails if it is another customer's id."""
    external_ref: NotRequired[str | None]
    """The customer's id in your own systems; identifies the customer. 1 to 64 characters, not only white space. Stored and compared in Unicode NFC; case and white space are significant."""
    name: NotRequired[str | None]
    """Name. 1 to 200 characters, not only white space. Required if the customer is new."""
    email: NotRequired[str | None]
    """Email address. At most 254 characters; null clears it."""
    phone: NotRequired[str | None]
    """Phone number. 1 to 50 characters; null clears it."""
    vat_number: NotRequired[str | None]
    """VAT registration number. 1 to 50 characters; null clears it."""
    billing_address: NotRequired[AddressInput | None]
    """Billing address. Replaces the whole address; null clears it."""
    delivery_address: NotRequired[AddressInput | None]
    """Delivery address. Replaces the whole address; null clears it."""
    contacts: NotRequired[list[ContactInput] | None]
    """Contacts at the customer, at most 100. Replaces the whole list; null clears it. Members omitted from a contact are cleared."""
    metadata: NotRequired[dict[str, str | None] | None]
    """Metadata to set, at most 50 pairs; others stay. A value of null removes a pair, null removes all."""
    erased_at: NotRequired[str | None]
    """Ignored."""
    created_at: NotRequired[str | None]
    """Ignored."""
    updated_at: NotRequired[str | None]
    """Ignored."""


class AddressInput(TypedDict):
    """Input for a postal address. `line1`, `city` and `country` are required."""

    line1: NotRequired[str | None]
    """First line: street and number. 1 to 200 characters."""
    line2: NotRequired[str | None]
    """Second line: building, floor, c/o. 1 to 200 characters."""
    city: NotRequired[str | None]
    """City or town. 1 to 100 characters."""
    region: NotRequired[str | None]
    """State, province or region. 1 to 100 characters."""
    postcode: NotRequired[str | None]
    """Postal code. 1 to 20 characters."""
    country: NotRequired[str | None]
    """Country. 1 to 100 characters."""


class ContactInput(TypedDict):
    """Input for a contact at a customer. `name` is required. At most one contact of a customer is primary."""

    id: NotRequired[str | None]
    """Id of the contact, which stays the same whatever else changes. Without it, or if no contact of the customer has it, a contact is matched by name and email address, and is new if none matches."""
    name: NotRequired[str | None]
    """Name. 1 to 200 characters, not only white space."""
    role: NotRequired[str | None]
    """Role. 1 to 100 characters."""
    email: NotRequired[str | None]
    """Email address. At most 254 characters."""
    phone: NotRequired[str | None]
    """Phone number. 1 to 50 characters."""
    primary: NotRequired[bool | None]
    """Whether this is the primary contact. Default false."""


class AddressChange(TypedDict):
    """Input for a postal address in a change of a customer."""

    line1: str
    """First line: street and number. 1 to 200 characters."""
    line2: NotRequired[str | None]
    """Second line: building, floor, c/o. 1 to 200 characters."""
    city: str
    """City or town. 1 to 100 characters."""
    region: NotRequired[str | None]
    """State, province or region. 1 to 100 characters."""
    postcode: NotRequired[str | None]
    """Postal code. 1 to 20 characters."""
    country: str
    """Country. 1 to 100 characters."""


class ContactChange(TypedDict):
    """Input for a contact in a change of a customer. At most one contact of a customer is primary."""

    id: NotRequired[str | None]
    """Id of the contact, which stays the same whatever else changes. Without it, or if no contact of the customer has it, a contact is matched by name and email address, and is new if none matches."""
    name: str
    """Name. 1 to 200 characters, not only white space."""
    role: NotRequired[str | None]
    """Role. 1 to 100 characters."""
    email: NotRequired[str | None]
    """Email address. At most 254 characters."""
    phone: NotRequired[str | None]
    """Phone number. 1 to 50 characters."""
    primary: NotRequired[bool | None]
    """Whether this is the primary contact. Default false."""


class ProductUpsertReport(TypedDict):
    """The result of a bulk call for products."""

    created: int
    """Number created."""
    updated: int
    """Number updated."""
    unchanged: int
    """Number unchanged."""
    failed: int
    """Number failed."""
    results: list[ProductUpsertResult]
    """One result per element, in request order."""


class ProductUpsertResult(TypedDict):
    """The result of a bulk call for one product."""

    index: int
    """Index of the element in the call, from 0."""
    sku: str | None
    """The sku as sent, truncated to 64 characters; null if missing."""
    id: str | None
    """Id of the product; null if the element failed or, in a dry run, would be created."""
    outcome: UpsertOutcome
    """What happened to the element."""
    errors: list[ElementError]
    """Why it failed; empty otherwise. At most 10 errors per element and 100 per call; an error with the code `more` has the number of the others."""


class ProductUpsert(TypedDict):
    """Input for a product in a bulk call. `sku` is always required, `name` if the product is new; they are nullable here, so that
    only the element fails without them. A product can be sent back exactly as it was read. Strings must not contain control
    characters other than tabs and line breaks."""

    id: NotRequired[str | None]
    """Ignored, since `sku` identifies the product; but the element fails if it is another product's id."""
    sku: NotRequired[str | None]
    """Stock keeping unit; identifies the product. 1 to 64 characters, not only white space. Stored and compared in Unicode NFC; case and white space are significant."""
    external_ref: NotRequired[str | None]
    """Ignored: programs of the operator set it."""
    name: NotRequired[str | None]
    """Name. 1 to 200 characters, not only white space. Required if the product is new."""
    description: NotRequired[str | None]
    """Description. 1 to 5,000 characters; null clears it."""
    category: NotRequired[str | None]
    """Category. 1 to 100 characters; null clears it."""
    uom: NotRequired[str | None]
    """Unit of measure. 1 to 20 characters. Null, or omitting it for a new product, sets `each`."""
    currency: NotRequired[str | None]
    """Currency of the price: an ISO 4217 code in use that has a minor unit, in upper case. Null, or omitting it for a new product, sets the organisation's currency."""
    unit_price_minor: NotRequired[int | None]
    """Unit price in minor units, at least 0; null clears it."""
    vat_exempt: NotRequired[bool | None]
    """Whether the product is exempt from VAT. Null, or omitting it for a new product, sets false."""
    lead_time_days: NotRequired[int | None]
    """Days from order to dispatch, 0 to 3,650; null clears it."""
    active: NotRequired[bool | None]
    """Whether the product is on sale. Null, or omitting it for a new product, sets true."""
    metadata: NotRequired[dict[str, str | None] | None]
    """Metadata to set, at most 50 pairs; others stay. A value of null removes a pair, null removes all."""
    attachments: NotRequired[list[AttachmentInput] | None]
    """Ignored."""
    created_at: NotRequired[str | None]
    """Ignored."""
    updated_at: NotRequired[str | None]
    """Ignored."""


class AttachmentInput(TypedDict):
    """An attachment in an element of a bulk call, so that an object can be sent back as it was read. It changes nothing."""

    id: NotRequired[str | None]
    """Ignored."""
    file_name: NotRequired[str | None]
    """Ignored."""
    content_type: NotRequired[str | None]
    """Ignored."""
    size: NotRequired[int | None]
    """Ignored."""
    sha256: NotRequired[str | None]
    """Ignored."""
    created_at: NotRequired[str | None]
    """Ignored."""


class RequestContactInput(TypedDict):
    """Input for the person who sent the request."""

    name: str
    """Name. 1 to 200 characters, not only white space."""
    email: NotRequired[str | None]
    """Email address. At most 254 characters."""
    phone: NotRequired[str | None]
    """Phone number. 1 to 50 characters."""


class ChangedCustomer(TypedDict):
    """A customer of the organisation. To a key without the scope `customers:read`: `id` and the members that were sent."""

    id: str
    """Id of the customer (UUID)."""
    external_ref: NotRequired[str]
    """The customer's id in the organisation's own systems; unique in the organisation."""
    name: NotRequired[str]
    """Name."""
    email: NotRequired[str | None]
    """Email address."""
    phone: NotRequired[str | None]
    """Phone number, as free text."""
    vat_number: NotRequired[str | None]
    """VAT registration number."""
    billing_address: NotRequired[Address | None]
    """Billing address."""
    delivery_address: NotRequired[Address | None]
    """Delivery address."""
    contacts: NotRequired[list[Contact]]
    """Contacts at the customer."""
    erased_at: NotRequired[str | None]
    """When its personal data was erased; null if it was not. Writes to an erased customer fail with the code `erased`."""
    metadata: NotRequired[dict[str, str]]
    """Metadata: what the organisation has added, at most 50 pairs. On REST an object, which is empty if there are none."""
    created_at: NotRequired[str]
    """When it was created."""
    updated_at: NotRequired[str]
    """When it last changed."""


class ChangedProduct(TypedDict):
    """A product of the organisation. To a key without the scope `products:read`: `id` and the members that were sent."""

    id: str
    """Id of the product (UUID)."""
    sku: NotRequired[str]
    """Stock keeping unit; unique in the organisation."""
    external_ref: NotRequired[str | None]
    """The id of the product in the product's own database; unique in the organisation if given. Programs of the operator set it."""
    name: NotRequired[str]
    """Name."""
    description: NotRequired[str | None]
    """Description."""
    category: NotRequired[str | None]
    """Category."""
    uom: NotRequired[str]
    """Unit of measure of the price, e.g. each, kg, m."""
    currency: NotRequired[str]
    """Currency of the price (ISO 4217)."""
    unit_price_minor: NotRequired[int | None]
    """Unit price in minor units; null if on request."""
    vat_exempt: NotRequired[bool]
    """Whether the product is exempt from VAT."""
    lead_time_days: NotRequired[int | None]
    """Days from order to dispatch."""
    active: NotRequired[bool]
    """Whether the product is on sale."""
    metadata: NotRequired[dict[str, str]]
    """Metadata: what the organisation has added, at most 50 pairs. On REST an object, which is empty if there are none."""
    attachments: NotRequired[list[Attachment]]
    """Files attached to the product, at most 20, oldest first. They are added, read and deleted on REST."""
    created_at: NotRequired[str]
    """When it was created."""
    updated_at: NotRequired[str]
    """When it last changed."""


class ChangedRequest(TypedDict):
    """A thread of messages between a customer and the organisation. To a key without the scope `requests:read`: `id` and the members that were sent."""

    id: str
    """Id of the thread (UUID)."""
    subject: NotRequired[str]
    """Subject."""
    status: NotRequired[RequestStatus]
    """Status of the thread."""
    customer_id: NotRequired[str | None]
    """Id of the customer."""
    contact: NotRequired[RequestContact | None]
    """The person who sent the request."""
    external_ref: NotRequired[str | None]
    """The caller's own reference for the thread, such as a ticket number; unique in the organisation if given."""
    message_count: NotRequired[int]
    """Number of messages."""
    last_message_at: NotRequired[str]
    """When the last message was written."""
    metadata: NotRequired[dict[str, str]]
    """Metadata: what the organisation has added, at most 50 pairs. On REST an object, which is empty if there are none."""
    attachments: NotRequired[list[Attachment]]
    """Files attached to the thread, at most 20, oldest first. They are added, read and deleted on REST."""
    created_at: NotRequired[str]
    """When it was created."""
    updated_at: NotRequired[str]
    """When it last changed."""
    customer: NotRequired[Customer | None]
    """The customer. Only with `include=customer`."""


class Problem(TypedDict):
    """An error (RFC 9457)."""

    type: str
    """URL of a page about the code."""
    title: str
    """Short description of the code."""
    status: int
    """HTTP status."""
    detail: str
    """What went wrong in this request."""
    code: str
    """Stable code to branch on. New codes may be added; handle unknown codes by the HTTP status.

    - `invalid_request`: Invalid request, 400
    - `unauthenticated`: Unauthenticated, 401
    - `insufficient_scope`: Insufficient scope, 403
    - `forbidden`: Forbidden, 403
    - `organisation_suspended`: Organisation suspended, 403
    - `plan_required`: Plan required, 403
    - `not_found`: Not found, 404
    - `method_not_allowed`: Method not allowed, 405
    - `not_acceptable`: Not acceptable, 406
    - `idempotency_in_progress`: Idempotency key in progress, 409
    - `conflict`: Conflict, 409
    - `cursor_expired`: Cursor expired, 410
    - `precondition_failed`: Precondition failed, 412
    - `payload_too_large`: Payload too large, 413
    - `unsupported_media_type`: Unsupported media type, 415
    - `range_not_satisfiable`: Range not satisfiable, 416
    - `validation_failed`: Validation failed, 422
    - `idempotency_key_reused`: Idempotency key reused, 422
    - `quota_exceeded`: Quota exceeded, 422
    - `rate_limited`: Rate limited, 429
    - `stored_object_invalid`: Stored object invalid, 500
    - `internal`: Internal error, 500
    - `unavailable`: Unavailable, 503"""
    request_id: str
    """Id of the request; include it when you contact support."""
    required_scope: NotRequired[str]
    """The scope that the key lacks."""
    retry_after: NotRequired[int]
    """Seconds to wait before retrying."""
    errors: NotRequired[list[Fault]]
    """The faults of the request, at most 100."""
    more_errors: NotRequired[int]
    """Number of faults that are not listed in `errors`; of a bulk call with very many, at least so many."""


class Fault(TypedDict):
    """One fault of a request."""

    pointer: NotRequired[str]
    """JSON Pointer (RFC 6901) into the body."""
    parameter: NotRequired[str]
    """Name of the path or query parameter."""
    code: str
    """Stable code of the fault. New codes may be added; handle unknown codes by the HTTP status.

    - `required`: a required value is missing or null
    - `type`: the value has the wrong type
    - `format`: the value has the wrong format: it is not a valid UUID, date or email address, does not match the pattern, or contains invalid characters
    - `length`: a string or list is too short or too long
    - `range`: a number or time is out of range
    - `not_allowed`: the value is not one of the allowed values
    - `unknown`: the member or parameter is unknown
    - `repeated`: a parameter is repeated
    - `several`: an `Idempotency-Key` was sent with several writes
    - `duplicate`: the same key or id occurs earlier in the call or file
    - `conflict`: the value belongs to another object
    - `erased`: the object was erased, and only the operator can readmit it
    - `not_found`: the referenced object does not exist
    - `cursor`: the cursor is not valid for this list with these filters and this sort
    - `depth`: the body is nested more deeply than any valid body
    - `size`: the body has more values or names than any valid body
    - `more`: not a fault: the number of faults that are not listed
    - `json`: the body, or a line of the file, is not valid JSON
    - `encoding`: the value is not valid UTF-8 or percent-encoding
    - `incomplete`: the body ended before it was complete
    - `status`: the value is not allowed with the status of the object
    - `total`: the amounts do not add up
    - `order`: the lines are not in the order of their positions
    - `ended`: the key is revoked or expired
    - `expired`: the object is no longer kept
    - `unavailable`: the organisation cannot be written to at the moment; send the line again later
    - `quota`: the organisation stores as much as it may
    - `rate_limited`: the token has no points left; send the line again in a minute
    - `too_many`: there are as many objects of this kind as there may be
    - `replaced`: the key was already replaced, and its replacement is active
    - `rule`: the object could not be checked, since a rule that the operator wrote for its type failed; only the operator can correct that
    - `invalid`: another rule is violated; see `detail`"""
    detail: str
    """Human-readable description of the fault."""


class CustomersBulkBody(TypedDict):

    customers: list[CustomerUpsert]
    """The customers, 1 to 1,000. If an external_ref appears twice, every occurrence after the first fails. Each is validated individually: on REST an element of the wrong type or with unknown members also fails on its own; in GraphQL a variable of the wrong type fails the whole request."""
    atomic: NotRequired[bool | None]
    """All or nothing: if any element is invalid, the call fails with 422 and nothing is stored. Default false."""
    dry_run: NotRequired[bool | None]
    """Validate and report the outcome without storing anything. Requires the scope `customers:read` too, since the outcome tells what is stored. Default false."""


class PatchCustomersIdBody(TypedDict):

    external_ref: NotRequired[str]
    """The customer's id in your own systems. 1 to 64 characters, not only white space; 409 `conflict` if another customer has it. Stored and compared in Unicode NFC; case and white space are significant."""
    name: NotRequired[str]
    """Name. 1 to 200 characters, not only white space."""
    email: NotRequired[str | None]
    """Email address. At most 254 characters; null clears it."""
    phone: NotRequired[str | None]
    """Phone number. 1 to 50 characters; null clears it."""
    vat_number: NotRequired[str | None]
    """VAT registration number. 1 to 50 characters; null clears it."""
    billing_address: NotRequired[AddressChange | None]
    """Billing address. Replaces the whole address; null clears it."""
    delivery_address: NotRequired[AddressChange | None]
    """Delivery address. Replaces the whole address; null clears it."""
    contacts: NotRequired[list[ContactChange] | None]
    """Contacts at the customer, at most 100. Replaces the whole list, with contacts matched as in a bulk call; null clears it. Members omitted from a contact are cleared."""
    metadata: NotRequired[dict[str, str | None] | None]
    """Metadata to set, at most 50 pairs; others stay. A value of null removes a pair, null removes all."""


class ProductsBulkBody(TypedDict):

    products: list[ProductUpsert]
    """The products, 1 to 1,000. If a sku appears twice, every occurrence after the first fails. Each is validated individually: on REST an element of the wrong type or with unknown members also fails on its own; in GraphQL a variable of the wrong type fails the whole request."""
    atomic: NotRequired[bool | None]
    """All or nothing: if any element is invalid, the call fails with 422 and nothing is stored. Default false."""
    dry_run: NotRequired[bool | None]
    """Validate and report the outcome without storing anything. Requires the scope `products:read` too, since the outcome tells what is stored. Default false."""


class PatchProductsIdBody(TypedDict):

    sku: NotRequired[str]
    """Stock keeping unit. 1 to 64 characters, not only white space; 409 `conflict` if another product has it. Stored and compared in Unicode NFC; case and white space are significant."""
    name: NotRequired[str]
    """Name. 1 to 200 characters, not only white space."""
    description: NotRequired[str | None]
    """Description. 1 to 5,000 characters; null clears it."""
    category: NotRequired[str | None]
    """Category. 1 to 100 characters; null clears it."""
    uom: NotRequired[str | None]
    """Unit of measure. 1 to 20 characters. Null sets `each`."""
    currency: NotRequired[str | None]
    """Currency of the price: an ISO 4217 code in use that has a minor unit, in upper case. Null sets the organisation's currency."""
    unit_price_minor: NotRequired[int | None]
    """Unit price in minor units, at least 0; null clears it."""
    vat_exempt: NotRequired[bool | None]
    """Whether the product is exempt from VAT. Null sets false."""
    lead_time_days: NotRequired[int | None]
    """Days from order to dispatch, 0 to 3,650; null clears it."""
    active: NotRequired[bool | None]
    """Whether the product is on sale. Null sets true."""
    metadata: NotRequired[dict[str, str | None] | None]
    """Metadata to set, at most 50 pairs; others stay. A value of null removes a pair, null removes all."""


class RequestsBody(TypedDict):

    text: str
    """Text of the first message, 1 to 20,000 characters, not only white space. Strings must not contain control characters other than tabs and line breaks."""
    subject: NotRequired[str | None]
    """Subject, 1 to 200 characters; defaults to the first line of the text."""
    customer_id: NotRequired[str | None]
    """Id of the customer; must exist in the organisation."""
    contact: NotRequired[RequestContactInput | None]
    """The person who sent the request."""
    external_ref: NotRequired[str | None]
    """Your own reference for the thread, such as a ticket number. 1 to 64 characters, not only white space; 409 `conflict` names the thread that has it already. Compared in Unicode NFC."""
    metadata: NotRequired[dict[str, str | None] | None]
    """Metadata, at most 50 pairs."""


class RequestsIdMessagesBody(TypedDict):

    text: str
    """The text, 1 to 20,000 characters, not only white space. Strings must not contain control characters other than tabs and line breaks."""
    author: NotRequired[MessageAuthor | None]
    """Who wrote the message. Default `customer`."""
    author_name: NotRequired[str | None]
    """Name of the author, 1 to 200 characters. If it is the customer, defaults to the name of the person who sent the request, or of the customer."""


class PatchRequestsIdBody(TypedDict):

    status: NotRequired[RequestStatus]
    """Status of the thread."""
    subject: NotRequired[str]
    """Subject, 1 to 200 characters, not only white space."""
    customer_id: NotRequired[str | None]
    """Id of the customer; must exist in the organisation."""
    external_ref: NotRequired[str | None]
    """Your own reference for the thread. 1 to 64 characters, not only white space; 409 `conflict` names the thread that has it already. Compared in Unicode NFC."""
    metadata: NotRequired[dict[str, str | None] | None]
    """Metadata to set, at most 50 pairs; others stay. A value of null removes a pair, null removes all."""


class StreamEvent(Event):
    """An event of the stream."""

    cursor: str
    """To go on after this event, pass it as `after`."""
