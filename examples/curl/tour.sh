#!/usr/bin/env bash
# A tour of the REST API with curl: read, page, search, write in bulk, be refused, be told to wait.
#   SCOPEGATE_URL=http://127.0.0.1:4000 SCOPEGATE_KEY=svc_live_… examples/curl/tour.sh
# Needs curl 7.76 or newer. The key needs products:read, products:write and orders:read.
set -euo pipefail
url=${SCOPEGATE_URL:-http://127.0.0.1:4000}/api/v1
key=${SCOPEGATE_KEY:?set SCOPEGATE_KEY to an API key}

# A request. --fail-with-body shows the problem and ends the script; --retry waits as long as Retry-After says (429, 503).
api() {
  local path=$1
  shift
  curl --silent --show-error --fail-with-body --retry 5 --header "Authorization: Bearer $key" "$@" "$url$path"
}

echo '== whose key this is'
api /me
echo

echo '== products that begin with "chai" in any word'
api '/products?q=chai'
echo

echo '== two pages of orders: `Link` leads to the next'
first=$(mktemp)
trap 'rm -f "$first"' EXIT
api '/orders?limit=3&sort=number' --dump-header "$first"
echo
next=$(sed -n 's/^[Ll]ink: <\/api\/v1\(.*\)>; rel="next".*/\1/p' "$first" | tr -d '\r')
[ -z "$next" ] || api "$next"
echo

echo '== one bulk upsert, sent twice with one Idempotency-Key: it happens once, the second answer is a replay'
body='{"products": [{"sku": "CURL-1", "name": "Tour ticket", "unit_price_minor": 1250, "currency": "EUR"}, {"sku": "CURL-2"}]}'
idempotency_key="tour-$$-$(date +%s)"
for _ in 1 2; do
  api /products/bulk --request POST --header 'Content-Type: application/json' \
    --header "Idempotency-Key: $idempotency_key" --dump-header "$first" --data "$body"
  echo
  grep -i '^idempotent-replayed' "$first" || true
done

echo '== a problem: the status, a code to decide by, every fault with where it is, and a request id to quote'
curl --silent --header "Authorization: Bearer $key" --write-out '\nHTTP %{http_code}\n' "$url/orders?limit=101&sort=price"

echo '== what is left of the budget'
api /me --output /dev/null --dump-header - | grep -i '^ratelimit'
