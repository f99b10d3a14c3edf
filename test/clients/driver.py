"""driver.mjs in Python."""

import json
import sys
from itertools import islice

from scopegate import Scopegate, ScopegateError, format_amount, verify_webhook


def say(line):
    print(json.dumps(line), flush=True)


def each(rows, take):
    for row in islice(rows, take):
        say({"row": row})


def verify(body, headers, secret):
    event = verify_webhook(body, headers, secret)
    return verify_webhook(body.encode(), headers, secret) and event


order = json.load(sys.stdin)
api = Scopegate(**order["options"], on_retry=lambda error, seconds: say({"retry": error.code, "seconds": seconds}))


def call(do, route=None, path={}, query={}, take=None, body=None, key=None, etag=None, **others):
    given = {**query, **path}
    if do in ("get", "read"):
        return getattr(api, do)(route, **given)
    if do == "list":
        return each(api.list(route, **given), take)
    if do == "post":
        return api.post(route, body, idempotency_key=key, **given)
    if do == "patch":
        return api.patch(route, body, idempotency_key=key, if_match=etag, **given)
    if do == "graphql":
        return api.graphql(others["document"], others.get("variables"), idempotency_key=key)
    if do == "events":
        return each(api.events(**others), take)
    if do == "verify":
        return verify(body, **others)
    return format_amount(**others)


for one in order["calls"]:
    try:
        say({"result": call(**one)})
    except ScopegateError as error:
        members = {name: getattr(error, name) for name in ("status", "code", "detail", "errors")}
        others = {"requestId": error.request_id, "retryAfter": error.retry_after, "isRetryable": error.is_retryable}
        say({"error": {"name": "ScopegateError", "message": str(error), **members, **others}})
    except Exception as error:
        say({"error": {"name": type(error).__name__, "message": str(error)}})
