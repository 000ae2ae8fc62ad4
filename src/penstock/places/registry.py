"""Opens places of every kind."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from penstock.model.places.ports import Place, PlaceAddress, PlaceKind, PlaceLimits
from penstock.places.errors import bad_address

LIMITS = PlaceLimits()


class PlacesOfKind(Protocol):
    """Places of one kind."""

    async def check(self, address: PlaceAddress) -> str: ...
    def open(
        self, address: PlaceAddress, limits: PlaceLimits
    ) -> AbstractAsyncContextManager[Place]: ...


class AllPlaces:
    """Implements `model.places.ports.Places`."""

    def __init__(self, kinds: Mapping[PlaceKind, PlacesOfKind]) -> None:
        self._kinds = kinds

    async def check(self, address: PlaceAddress) -> str:
        if not address.address.strip() or len(address.address) > 1000:
            raise bad_address("it must have 1 to 1,000 characters.")
        return await self._of(address).check(address)

    @asynccontextmanager
    async def open(
        self, address: PlaceAddress, limits: PlaceLimits = LIMITS
    ) -> AsyncIterator[Place]:
        async with self._of(address).open(address, limits) as place:
            yield place

    def _of(self, address: PlaceAddress) -> PlacesOfKind:
        found = self._kinds.get(address.kind)
        if found is None:
            raise bad_address(f"this server cannot use places of kind {address.kind}.")
        return found
