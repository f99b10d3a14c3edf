"""SCOPEGATE_URL=http://127.0.0.1:4000 SCOPEGATE_KEY=svc_live_… SCOPEGATE_WEBHOOK_SECRET=whsec_… python receiver.py

The key needs the read scopes of what is copied (mirror.py).
"""

import os
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from scopegate import ScopegateError, WebhookVerificationError, verify_webhook

from api import Api
from mirror import Mirror

MOST_BYTES = 20_000
"""No webhook is larger."""


def needed(name: str) -> str:
    return os.environ.get(name) or sys.exit(f"{name} is not set")


secret = needed("SCOPEGATE_WEBHOOK_SECRET")
if not re.fullmatch("whsec_[A-Za-z0-9+/=]+", secret):
    sys.exit("SCOPEGATE_WEBHOOK_SECRET is not the secret of an endpoint, whsec_…")
mirror = Mirror(
    Api(os.environ.get("SCOPEGATE_URL", "http://127.0.0.1:4000"), needed("SCOPEGATE_KEY")),
    os.environ.get("COPY_FILE", "copy.sqlite"),
    float(os.environ.get("CATCH_UP_SECONDS", "300")),
)


def receive(body: bytes, headers: dict[str, str]) -> int:
    """The status to answer with."""
    try:
        # the bytes that were signed, before anything has parsed them; refuses what is older than 5 minutes, too
        event = verify_webhook(body, headers, secret)
    except WebhookVerificationError:
        return 401
    # answered at once: the work is done later, and if this process ends before, the feed still has the event
    mirror.changed(event)
    print(event["type"], event["object"]["id"] if event["object"] else "", flush=True)
    return 204


class Handler(BaseHTTPRequestHandler):
    """In production, call `receive` from the framework that you use."""

    timeout = 10

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if self.path != "/webhooks":
            status = 404
        elif not length.isdecimal():
            status = 411
        elif int(length) > MOST_BYTES:
            status = 413
        else:
            status = receive(self.rfile.read(int(length)), dict(self.headers))
        self.send_response(status)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


def main() -> None:
    port = int(os.environ.get("PORT", "3000"))
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    except OSError as error:
        sys.exit(f"cannot listen on 127.0.0.1:{port}: {error.strerror}")
    print("listening on", server.server_address, flush=True)
    Thread(target=server.serve_forever, daemon=True).start()
    mirror.run()


if __name__ == "__main__":
    try:
        main()
    except ScopegateError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        pass
