"""Sends e-mails to the operator's SMTP server, within bounds of time and size."""

from __future__ import annotations

import asyncio
import base64
import ssl
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlsplit

from penstock.model.errors import PermanentError, Unavailable

_MAX_LINE = 4096
_MAX_REPLY_LINES = 100
_PORTS = {"smtp": 25, "smtps": 465}


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """From `smtp://user:password@host:587?from=penstock@example.com&starttls=1`. `smtps://` uses
    TLS from the first byte."""

    host: str
    port: int
    sender: str
    user: str = ""
    password: str = ""
    tls: bool = False
    starttls: bool = False

    @staticmethod
    def parse(url: str) -> SmtpServer:
        """Raises ValueError for anything else."""
        parts = urlsplit(url)
        if parts.scheme not in _PORTS or not parts.hostname:
            raise ValueError("write smtp://host:port?from=address or smtps://…")
        options = parse_qs(parts.query)
        sender = options.get("from", [f"penstock@{parts.hostname}"])[0]
        if any(c in sender for c in "\r\n<>"):
            raise ValueError("`from` is one e-mail address")
        return SmtpServer(
            parts.hostname, parts.port or _PORTS[parts.scheme], sender,
            unquote(parts.username or ""), unquote(parts.password or ""), parts.scheme == "smtps",
            options.get("starttls", ["0"])[0] in ("1", "true", "yes"),
        )  # fmt: skip


class SmtpMailer:
    """Implements `model.ports.Mailer`. Each mail has its own connection; all of it must end within
    the time given."""

    def __init__(self, server: SmtpServer | None, seconds: float = 20.0) -> None:
        self._server = server
        self._seconds = seconds

    @property
    def sender(self) -> str:
        return "" if self._server is None else self._server.sender

    async def send(self, to: str, mail: bytes) -> None:
        if self._server is None:
            raise PermanentError(
                "INVALID_STATE", "No SMTP server is configured: set PENSTOCK_SMTP_URL."
            )
        try:
            async with asyncio.timeout(self._seconds):
                await self._deliver(self._server, to, mail)
        except TimeoutError as error:
            raise Unavailable("API_TIMEOUT", "The SMTP server took too long.") from error
        except (OSError, ssl.SSLError, EOFError, asyncio.LimitOverrunError, ValueError) as error:
            raise Unavailable("NETWORK_ERROR", f"The SMTP server: {error}") from error

    async def _deliver(self, server: SmtpServer, to: str, mail: bytes) -> None:
        context = ssl.create_default_context() if server.tls or server.starttls else None
        reader, writer = await asyncio.open_connection(
            server.host, server.port, limit=_MAX_LINE, ssl=context if server.tls else None
        )
        session = _Session(reader, writer)
        try:
            await session.expect(220)
            await session.command("EHLO penstock", 250)
            if server.starttls:
                await session.command("STARTTLS", 220)
                await writer.start_tls(context or ssl.create_default_context())
                await session.command("EHLO penstock", 250)
            if server.user:
                token = base64.b64encode(f"\0{server.user}\0{server.password}".encode()).decode()
                await session.command(f"AUTH PLAIN {token}", 235)
            await session.command(f"MAIL FROM:<{server.sender}>", 250)
            await session.command(f"RCPT TO:<{to}>", 250)
            await session.command("DATA", 354)
            await session.data(mail)
        finally:
            # The mail is accepted or not; a server that does not let go must not hold us.
            writer.transport.abort()


class _Session:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def command(self, line: str, code: int) -> None:
        self._writer.write(line.encode() + b"\r\n")
        await self._writer.drain()
        await self.expect(code)

    async def data(self, mail: bytes) -> None:
        lines = mail.replace(b"\r\n", b"\n").split(b"\n")
        stuffed = b"\r\n".join(b"." + one if one.startswith(b".") else one for one in lines)
        self._writer.write(stuffed + b"\r\n.\r\n")
        await self._writer.drain()
        await self.expect(250)

    async def expect(self, code: int) -> None:
        """The reply must begin with the code; 4xx may pass later, 5xx does not."""
        for _ in range(_MAX_REPLY_LINES):
            line = (await self._reader.readline()).decode("utf-8", "replace")
            if not line:
                raise EOFError("it closed the connection")
            if line[3:4] != "-":
                break
        else:
            raise ValueError("it answered with too many lines")
        if line.startswith(str(code)):
            return
        message = f"The SMTP server answered {line.strip()[:200]}"
        if line.startswith("5"):
            raise PermanentError("NOTIFICATION_REJECTED", message)
        raise Unavailable("SERVICE_UNAVAILABLE", message)
