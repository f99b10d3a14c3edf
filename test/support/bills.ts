/** A resource, with scopes that exist. */
export const BILLS = String.raw`extend type Query {
  "List bills, newest first by default. Use this to find them by number, customer or status."
  bills(
    "Prefix search on words in number; all words must match."
    q: String @constraint(max_length: 200) @filter(by: WORDS)
    "Only bills with one of these statuses (on REST, repeat the parameter)."
    status: [BillStatus!] @constraint(max_items: 20) @filter
    "Only bills of this customer."
    customer_id: ID @filter
    "Only bills changed at or after this time."
    updated_since: DateTime @filter(member: "updated_at", by: SINCE)
    "Sort by created_at, updated_at or number; prefix with ’-’ for descending."
    sort: String @constraint(one_of: ["created_at", "-created_at", "updated_at", "-updated_at", "number", "-number"])
    "Page size, 1 to 100. Default 20."
    limit: Int @constraint(min: 1, max: 100, default: 20)
    "’next_cursor’ of the previous page, with the same filters and sort."
    cursor: String @constraint(max_length: 2048)
  ): BillPage @rest(path: "/bills") @access(scope: QUOTES_READ)

  "Get an bill."
  bill("The bill's id." id: ID!): Bill @rest(path: "/bills/:id") @access(scope: QUOTES_READ)
}

"Status of an bill."
enum BillStatus {
  "Sent, not yet paid."
  open
  "Paid in full."
  paid
  "Withdrawn."
  void
}

"An bill to a customer."
type Bill @stored(collection: "bills", unique: "number") @restricted(by: "customer_id") {
  "Id of the bill (UUID)."
  id: ID!
  "Number; unique in the organisation."
  number: String! @constraint(min_length: 1, max_length: 64) @searchable
  "Status of the bill."
  status: BillStatus!
  "Currency of the total (ISO 4217)."
  currency: String! @constraint(pattern: "^[A-Z]{3}$")
  "Total to pay, in minor units."
  total_minor: Minor!
  "Due date."
  due_on: Date
  "Id of the customer."
  customer_id: ID
  "When it was created."
  created_at: DateTime!
  "When it last changed."
  updated_at: DateTime!
  "The customer."
  customer: Customer @graphql_only @access(scope: CUSTOMERS_READ)
}

"A page of bills."
type BillPage {
  "The bills of this page."
  data: [Bill!]!
  "Whether there is a next page."
  has_more: Boolean!
  "Cursor for the next page; null on the last page."
  next_cursor: String
}
extend type Mutation {
    change_bill(id: ID!, status: BillStatus @constraint(not_null: true), due_on: Date): Bill
      @rest(method: PATCH, path: "/bills/:id") @access(scope: QUOTES_WRITE)
  }`;
