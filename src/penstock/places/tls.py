"""TLS to servers of places."""

from __future__ import annotations

import ssl

from penstock.model.places.ports import PlaceAddress
from penstock.places.errors import bad_credentials


def tls_context(address: PlaceAddress) -> ssl.SSLContext:
    """Trusts public certificates, and the one that was given with the credentials."""
    context = ssl.create_default_context()
    if address.credentials.get("certificate"):
        try:
            context.load_verify_locations(cadata=address.credentials["certificate"])
        except (ssl.SSLError, ValueError) as error:
            raise bad_credentials("certificate cannot be read.") from error
    return context
