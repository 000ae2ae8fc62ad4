"""Parse URLs once and strictly, so that the checked host is the one that is connected to."""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from dataclasses import dataclass
from typing import NoReturn
from urllib.parse import quote, urljoin, urlsplit

import idna

from penstock.model.errors import BadInput
from penstock.model.network.addresses import Address

MAX_LENGTH = 4096
_DEFAULT_PORTS = {"http": 80, "https": 443}
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
# The last label of a name is never a number, so a host that ends in one is an address.
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
# Other characters in a path or query are escaped.
_SAFE = "/?:@!$&'()*+,;=-._~%[]"


@dataclass(frozen=True, slots=True)
class Target:
    """A parsed URL. ``address`` is set if the host is an IP address."""

    scheme: str
    host: str
    port: int
    path: str
    address: Address | None = None

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"


def refuse(why: str) -> NoReturn:
    """The message does not contain the URL, which may contain a secret."""
    raise BadInput("URL_NOT_ALLOWED", f"This URL is not allowed: {why}.")


def parse_url(url: str) -> Target:
    """Parse a URL; one that different parsers interpret differently is refused."""
    if len(url) > MAX_LENGTH:
        refuse(f"it is longer than {MAX_LENGTH} characters")
    if any(ord(c) <= 0x20 or ord(c) == 0x7F or c == "\\" for c in url):
        refuse("it contains a space, a control character or a backslash")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        refuse("it cannot be read")
    if parts.scheme not in _DEFAULT_PORTS:
        refuse("only http and https are")
    if not parts.netloc:
        refuse("it names no host")
    if "@" in parts.netloc:
        refuse("it contains a user name or a password")
    if port == 0:
        refuse("there is no port 0")
    host, address = _host(parts.netloc)
    path = parts.path or "/"
    if not path.startswith("/"):
        refuse("it cannot be read")
    if parts.query:
        path += f"?{parts.query}"
    path = quote(path, safe=_SAFE)
    return Target(parts.scheme, host, port or _DEFAULT_PORTS[parts.scheme], path, address)


def follow(target: Target, location: str) -> Target:
    """The target of a redirect."""
    if len(location) > MAX_LENGTH:
        refuse(f"a redirect is longer than {MAX_LENGTH} characters")
    try:
        joined = urljoin(target.url, location)
    except ValueError:
        refuse("a redirect cannot be read")
    return parse_url(joined)


def _host(netloc: str) -> tuple[str, Address | None]:
    if netloc.startswith("["):
        inside, bracket, rest = netloc[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            refuse("it cannot be read")
        try:
            address = ipaddress.IPv6Address(inside)
        except ValueError:
            refuse("its host is not a valid address")
        if address.scope_id is not None:
            refuse("its address contains a zone")
        return str(address), address
    name = netloc.rpartition(":")[0] if ":" in netloc else netloc
    if ":" in name or "%" in name or "[" in name or "]" in name:
        refuse("its host cannot be read")
    # Resolvers treat digits and dots of other scripts like ASCII ones.
    plain = unicodedata.normalize("NFKC", name).replace("。", ".").lower().removesuffix(".")
    if not plain.isascii():
        try:
            plain = idna.encode(plain, uts46=True).decode("ascii")
        except (idna.IDNAError, UnicodeError):
            refuse("its host is not a valid name")
    labels = plain.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        try:
            return plain, ipaddress.IPv4Address(plain)
        except ValueError:
            refuse("write the address as four numbers separated by dots")
    if len(plain) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        refuse("its host is not a valid name")
    return plain, None
