"""One signed write over the S3 API, to see that an object store takes writes. The standard library alone: it runs beside the
observer too, where nothing else of the harness's own environment is.

Signature version 4, as AWS documents it. Run as a program it writes to $LOUDGATE_OBJECTS; its status says whether that worked.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

from harness.errors import StackError

REGION = "us-east-1"
SCHEME = "s3+http"
WRITE_S = 5.0
"""The first write makes a bucket's volumes: 0.3 s; the rest is for a busy machine."""

_CONTENT = b"ready"


def environment(address: str, bucket: str, key: str, secret: str) -> dict[str, str]:
    """How a service is told of an object store."""
    return {**located(address, bucket), "LOUDGATE_S3_KEY": key, "LOUDGATE_S3_SECRET": secret}


def located(address: str, bucket: str) -> dict[str, str]:
    """Where it is: `address` as host:port or as base URL."""
    return {"LOUDGATE_OBJECTS": f"{SCHEME}://{address.removeprefix('http://')}/{bucket}"}


def write_once(told: Mapping[str, str]) -> None:
    """Make the bucket and one object in it; `StackError` if the store does not take it."""
    url, key, secret = urlsplit(told["LOUDGATE_OBJECTS"]), told["LOUDGATE_S3_KEY"], told["LOUDGATE_S3_SECRET"]
    connection = HTTPConnection(url.netloc, timeout=WRITE_S)
    try:
        for path, content, fine in ((url.path, b"", (200, 409)), (f"{url.path}/ready", _CONTENT, (200,))):
            headers = signed("PUT", url.netloc, path, content, key=key, secret=secret, now=datetime.now(UTC))
            connection.request("PUT", path, body=content, headers=headers)
            reply = connection.getresponse()
            reply.read()
            if reply.status not in fine:
                raise StackError(f"the object store answered {reply.status} to its first write")
    except (OSError, HTTPException) as error:
        raise StackError(f"the object store did not take its first write: {type(error).__name__}") from error
    finally:
        connection.close()


def signed(method: str, host: str, path: str, content: bytes, *, key: str, secret: str, now: datetime) -> dict[str, str]:
    """The headers of a request without a query whose path needs no escaping."""
    moment, digest = now.strftime("%Y%m%dT%H%M%SZ"), hashlib.sha256(content).hexdigest()
    headers = {"host": host, "x-amz-content-sha256": digest, "x-amz-date": moment}
    names = ";".join(headers)
    lines = "".join(f"{name}:{value}\n" for name, value in headers.items())
    request = "\n".join((method, path, "", lines, names, digest))
    scope = f"{moment[:8]}/{REGION}/s3/aws4_request"
    to_sign = "\n".join(("AWS4-HMAC-SHA256", moment, scope, hashlib.sha256(request.encode()).hexdigest()))
    sealed = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        sealed = _hmac(sealed, part)
    proof = f"AWS4-HMAC-SHA256 Credential={key}/{scope}, SignedHeaders={names}, Signature={_hmac(sealed, to_sign).hex()}"
    return {**headers, "authorization": proof}


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


if __name__ == "__main__":
    try:
        write_once(os.environ)
    except StackError as error:
        sys.exit(str(error))
