#!/usr/bin/env bash
# A tour of the REST API with curl: read, page, search, bulk upsert, handle an error, check the rate limit.
#   SCOPEGATE_URL=http://127.0.0.1:4000 SCOPEGATE_KEY=svc_live_… examples/curl/tour.sh
# The key needs products:read, products:write and orders:read.
set -euo pipefail
url=${SCOPEGATE_URL:-http://127.0.0.1:4000}/api/v1
key=${SCOPEGATE_KEY:?set SCOPEGATE_KEY to an API key}

answer=$(mktemp -d)
trap 'rm -rf "$answer"' EXIT

# Sends a request: prints the answer, keeps its headers in $answer/head, and fails on an error. Retries what is worth retrying
# (guide for integrators, "Retrying"): no answer (000), both kinds of 409, 429, 503, and 500, since writes have an Idempotency-Key.
api() {
  local path=$1 attempt status=000 wait
  shift
  for attempt in 0 1 2 3 4 5; do
    : >"$answer/head" >"$answer/body"
    status=$(curl --silent --show-error --max-time 60 --header "Authorization: Bearer $key" --dump-header "$answer/head" \
      --output "$answer/body" --write-out '%{http_code}' "$@" "$url$path") || status=000
    case $status in 000 | 409 | 429 | 500 | 503) ;; *) break ;; esac
    wait=$(sed -n 's/^[Rr]etry-[Aa]fter: *\([0-9]*\).*/\1/p' "$answer/head")
    [ "$attempt" = 5 ] || sleep "${wait:-$((attempt + 1))}"
  done
  cat "$answer/body"
  [ "$status" != 000 ] && [ "$status" -lt 400 ]
}

echo '== the key and its organisation'
api /me
echo

echo '== products with a word that starts with "chai"'
api '/products?q=chai'
echo

echo '== two pages of orders: `Link` has the URL of the next page'
api '/orders?limit=3&sort=number'
echo
next=$(sed -n 's/^[Ll]ink: <\/api\/v1\(.*\)>; rel="next".*/\1/p' "$answer/head" | tr -d '\r')
[ -z "$next" ] || api "$next"
echo

echo '== a bulk upsert, sent twice with the same Idempotency-Key: it runs once, the second answer is a replay'
body='{"products": [{"sku": "CURL-1", "name": "Tour ticket", "unit_price_minor": 1250, "currency": "EUR"}, {"sku": "CURL-2"}]}'
idempotency_key="tour-$$-$(date +%s)"
for _ in 1 2; do
  api /products/bulk --request POST --header 'Content-Type: application/json' \
    --header "Idempotency-Key: $idempotency_key" --data "$body"
  echo
  grep -i '^idempotent-replayed' "$answer/head" || true
done

echo '== an error: status, a code to handle it by, each invalid parameter, and a request id for support'
curl --silent --header "Authorization: Bearer $key" --write-out '\nHTTP %{http_code}\n' "$url/orders?limit=101&sort=price"

echo '== the remaining rate limit'
api /me >/dev/null
grep -i '^ratelimit' "$answer/head"
