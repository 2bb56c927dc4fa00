"""How Schemathesis sends a message: as its bytes."""

import schemathesis


@schemathesis.serializer("message/rfc822")
def message(_context, value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
