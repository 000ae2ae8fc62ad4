"""Errors of the database: only the store imports the driver, other code imports them from here."""

from __future__ import annotations

from asyncpg import (
    DataError,
    DeadlockDetectedError,
    DiskFullError,
    InsufficientPrivilegeError,
    InsufficientResourcesError,
    InvalidAuthorizationSpecificationError,
    InvalidCatalogNameError,
    LockNotAvailableError,
    OperatorInterventionError,
    PostgresError,
    PostgresSystemError,
    QueryCanceledError,
    SerializationError,
    UndefinedColumnError,
    UndefinedTableError,
    UniqueViolationError,
)

__all__ = [
    "DataError",
    "DeadlockDetectedError",
    "DiskFullError",
    "InsufficientPrivilegeError",
    "InsufficientResourcesError",
    "InvalidAuthorizationSpecificationError",
    "InvalidCatalogNameError",
    "LockNotAvailableError",
    "OperatorInterventionError",
    "PostgresError",
    "PostgresSystemError",
    "QueryCanceledError",
    "SerializationError",
    "UndefinedColumnError",
    "UndefinedTableError",
    "UniqueViolationError",
]
