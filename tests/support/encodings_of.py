"""The forms in which a secret may come back, made without the code under test."""

import base64
import json
import re
import urllib.parse


def forms(secret):
    """By name; each is what a careless program could print."""
    data = secret.encode()
    return {
        "raw": secret,
        "base64": base64.b64encode(data).decode(),
        "base64 after one byte": base64.b64encode(b"x" + data).decode(),
        "base64 after two bytes": base64.b64encode(b"ab" + data + b"tail").decode(),
        "base64 for urls": base64.urlsafe_b64encode(b"user:" + data).decode(),
        "hex": data.hex(),
        "HEX": data.hex().upper(),
        "url": urllib.parse.quote(secret, safe=""),
        "url with small letters": re.sub("%..", lambda found: found[0].lower(), urllib.parse.quote(secret, safe="")),
        "form": urllib.parse.urlencode({"key": secret}),
        "json": json.dumps({"key": secret}),
        "json in json": json.dumps(json.dumps(secret)),
        "repr": repr({"key": secret}),
        "repr of bytes": repr(data),
    }


def cores(secret):
    """What must be nowhere: pieces of the encoded forms that only this secret gives."""
    data = secret.encode()
    found = {
        secret,
        json.dumps(secret)[1:-1],
        urllib.parse.quote(secret, safe=""),
        urllib.parse.quote_plus(secret),
        data.hex(),
    }
    found |= {data.hex().upper(), repr(secret)[1:-1], repr(data)[2:-1]}
    for before in (b"", b"x", b"ab"):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            found.add(encode(before + data).decode()[4:-4])
    return found
