"""URLs that lead, one way or another, where no fetch may go. ``{port}``: a canary listens."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

_LOOPBACK = (
    "127.0.0.1", "127.0.0.2", "127.1.2.3", "127.255.255.254", "127.1", "127.0.1", "2130706433",
    "0x7f000001", "0X7F000001", "0x7f.1", "0x7f.0.0.1", "0177.0.0.1", "0177.0.0.01", "017700000001",
    "127.0.0.1.", "127.000.000.001", "0", "0.0.0.0", "0.0.0.1", "00000000", "0x0", "0x",
    "localhost",
    "localhost.", "LOCALHOST", "LocalHost", "ｌｏｃａｌｈｏｓｔ", "①②⑦.⓪.⓪.①", "１２７.０.０.１",
    "127。0。0。1", "127．0．0．1", "𝟏𝟐𝟕.𝟎.𝟎.𝟏", "①②⑦.0.0.1", "2130706433.", "4294967296",
    "127.0.0.1%00.example.com", "%31%32%37.0.0.1", "0300.0250.0.1", "256.256.256.256", "1.2.3.4.5",
    "127.0.0.0x1", "0b1111111.0.0.1", "99999999999999999999", "localhost%2eexample.com",
)  # fmt: skip
_PRIVATE_V4 = (
    "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.254", "192.168.0.1", "192.168.255.255",
    "169.254.169.254", "169.254.170.2", "169.254.0.1", "2852039166", "0xa9fea9fe",
    "0251.0376.0251.0376",
    "169.254.43518", "0xA9.0xFE.0xA9.0xFE", "①⑥⑨.②⑤④.①⑥⑨.②⑤④", "100.64.0.1", "100.100.100.200",
    "100.127.255.255", "168.63.129.16", "192.0.0.1", "192.0.0.170", "192.0.0.192", "192.0.2.1",
    "192.88.99.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1",
    "239.255.255.250", "240.0.0.1", "255.255.255.255", "192.31.196.1", "192.52.193.1",
    "192.175.48.1",
)  # fmt: skip
_V6 = (
    "::1", "::", "0:0:0:0:0:0:0:1", "::127.0.0.1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:7f00:1",
    "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1",
    "64:ff9b::a9fe:a9fe", "64:ff9b:1::10.0.0.1", "2002:7f00:1::", "2002:a00:1::1", "2002:c0a8:1::",
    "2001::1", "2001:0:7f00:1::", "2001:10::1", "2001:20::1", "2001:db8::1", "3fff::1", "3ffe::1",
    "fe80::1", "fe80::1%25eth0", "fe80::1%eth0", "febf::1", "fec0::1", "fc00::1", "fd00::1",
    "fd00:ec2::254", "fdff:ffff::1", "ff02::1", "ff05::2", "ff0e::1", "100::1", "5f00::1",
    "2620:4f:8000::1", "2606:4700::5efe:7f00:1", "2606:4700::200:5efe:10.0.0.1", "4000::1",
)  # fmt: skip
_OTHER = (
    "file:///etc/passwd", "file://localhost/etc/passwd", "ftp://127.0.0.1/",
    "gopher://127.0.0.1:{port}/_x",
    "dict://127.0.0.1:{port}/x", "ldap://127.0.0.1/", "tftp://127.0.0.1/x",
    "jar:http://127.0.0.1!/x",
    "data:text/plain,hello", "javascript:alert(1)", "unix:///run/postgres.sock",
    "ws://127.0.0.1:{port}/",
    "//127.0.0.1:{port}/", "127.0.0.1:{port}", "http:127.0.0.1:{port}", "http:/127.0.0.1:{port}",
    "",
    "http://", "http:///x", "https://:{port}/", "http://?x", "http://#x",
    "http://@127.0.0.1:{port}/",
    "http://good.example@127.0.0.1:{port}/", "http://user:secret@127.0.0.1:{port}/",
    "http://user@example.com/", "http://127.0.0.1:{port}@example.com/",
    "http://a%40127.0.0.1@b.example/",
    "http://example.com\\@127.0.0.1:{port}/", "http://127.0.0.1:{port}\\@example.com/",
    "http:\\\\127.0.0.1:{port}/", "http://example.com:80\\@127.0.0.1/",
    "http://127.0.0.1\t:{port}/",
    "http://127.0.0.1\r\n:{port}/", "http://127.0.0.1:{port}/\r\nX-Injected: 1",
    " http://127.0.0.1:{port}/",
    "http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: x", "http://[::1", "http://::1]:{port}/",
    "http://[]/",
    "http://[127.0.0.1]:{port}/", "http://[::1]x:{port}/", "http://[::1]@example.com/",
    "http://ex ample.com/",
    "http://example..com/", "http://.example.com/", "http://-example.com/", "http://exa<mple.com/",
    "http://example.com:99999/", "http://example.com:-1/", "http://example.com:0/",
    "http://example.com:abc/",
    "http://8.8.8.8:22/", "http://8.8.8.8:25/", "http://8.8.8.8:6379/", "http://8.8.8.8:5432/",
    "http://8.8.8.8:11211/", "http://[2606:4700::1111]:22/", "http://8.8.8.8:81/",
    "http://xn--/", "http://" + "a" * 64 + ".com/", "http://" + "a." * 130 + "com/",
    "http://example.com/" + "a" * 5000, "https://127.0.0.1:{port}/", "HTTP://127.0.0.1:{port}/",
    "http://1\u200b27.0.0.1:{port}/", "http://127.0.0.1\u3002:{port}/", "http://\uff0f127.0.0.1/",
)  # fmt: skip


def hostile_urls(port: int) -> Iterator[str]:
    for scheme, host in product(("http", "https"), _LOOPBACK):
        yield f"{scheme}://{host}:{port}/"
    for host in (*_LOOPBACK, *_PRIVATE_V4):
        yield f"http://{host}/latest/meta-data/?x=1#y"
    for host in _PRIVATE_V4:
        yield f"https://{host}:8443/"
    for scheme, host in product(("http", "https"), _V6):
        yield f"{scheme}://[{host}]:{port}/"
    for host in _V6:
        yield f"http://[{host}]/"
    for url in _OTHER:
        yield url.replace("{port}", str(port))
