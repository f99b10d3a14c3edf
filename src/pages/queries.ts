/** An example query for the GraphQL tools. */
export interface ExampleQuery {
  readonly query: string;
  readonly variables?: string;
  /** All the scopes that it needs. */
  readonly scopes: readonly string[];
}

const QUOTES = `# Accepted quotes, newest first, with
# lines and customers in one request.
# Amounts are integers in minor units.
query QuotesWithLines {
  quotes(status: [accepted], limit: 5) {
    data {
      number
      status
      currency
      total_minor
      customer {
        name
      }
      lines {
        position
        description
        qty
        unit_price_minor
      }
    }
    has_more
    next_cursor
  }
}
`;

const ORDERS = `# Orders with their customers. Requires
# orders:read and customers:read.
query OrdersWithCustomers {
  orders(sort: "-created_at", limit: 10) {
    data {
      number
      status
      placed_at
      currency
      total_minor
      customer {
        name
        email
      }
    }
    has_more
    next_cursor
  }
}
`;

const PRODUCTS = `# Word-prefix search over sku, name,
# description and category.
query ProductSearch($q: String) {
  products(q: $q, active: true, limit: 10) {
    data {
      sku
      name
      category
      currency
      unit_price_minor
    }
    has_more
    next_cursor
  }
}
`;

const SALES = `# A dashboard in one request: totals by month
# and currency, and best-selling products.
query SalesByMonth {
  order_totals(group_by: [MONTH]) {
    data {
      month
      currency
      count
      total_minor
    }
  }
  product_sales(limit: 5) {
    data {
      sku
      description
      currency
      net_minor
    }
  }
}
`;

const ME = `# The key's organisation, scopes,
# and remaining rate limit.
query Me {
  me {
    organisation {
      name
      plan
    }
    key {
      name
      prefix
      scopes
      expires_at
    }
    rate_limit {
      limit
      remaining
      reset_at
    }
    organisation_rate_limit {
      remaining
    }
  }
}
`;

/** The tabs that GraphiQL opens with. */
export const EXAMPLE_QUERIES: readonly ExampleQuery[] = [
  { query: QUOTES, scopes: ['quotes:read', 'customers:read'] },
  { query: ORDERS, scopes: ['orders:read', 'customers:read'] },
  { query: PRODUCTS, variables: '{\n  "q": "ch"\n}\n', scopes: ['products:read'] },
  { query: SALES, scopes: ['orders:read'] },
  { query: ME, scopes: [] },
];

/** The query that Sandbox opens with. */
export const FIRST_QUERY: string = QUOTES;
