"""What every answer says to browsers: run nothing but our own files, show us in no frame, keep nothing, tell nobody."""

from typing import Any, Final

from perdure.server.asgi import Send

_POLICY: Final = "; ".join(  # noqa: FLY002  one to a line of its own is what one reads
    (
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "font-src 'self'",
        "connect-src 'self'", "worker-src 'self'", "manifest-src 'self'", "base-uri 'none'", "form-action 'none'",
        "frame-ancestors 'none'",
    )
)  # fmt: skip
SHIELDS: Final = {
    b"content-security-policy": _POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": b"camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_CACHED: Final = b"cache-control"
_LETS_OTHERS_READ: Final = b"access-control-"


def shielded(send: Send) -> Send:
    """Sends with these headers, whatever was said below; no other page is ever let read an answer."""

    async def send_shielded(message: Any) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": _shields(message.get("headers", ()))}
        await send(message)

    return send_shielded


def _shields(headers: Any) -> list[tuple[bytes, bytes]]:
    said = [(bytes(name).lower(), value) for name, value in headers]
    kept = [each for each in said if each[0] not in SHIELDS and not each[0].startswith(_LETS_OTHERS_READ)]
    fresh = [] if any(name == _CACHED for name, _ in said) else [(_CACHED, b"no-store")]
    return [*kept, *fresh, *SHIELDS.items()]
