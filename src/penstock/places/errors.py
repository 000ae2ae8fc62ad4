"""Errors that all kinds of places raise."""

from __future__ import annotations

from penstock.model.errors import BadInput, NotAllowed, NotThere, PermanentError, Unavailable


def unreachable(why: str) -> Unavailable:
    return Unavailable("PLACE_UNREACHABLE", f"The place cannot be reached: {why}")


def ended_early(name: str) -> Unavailable:
    return Unavailable("PLACE_UNREACHABLE", f"{name} ended before all its bytes had arrived.")


def timed_out(seconds: float) -> Unavailable:
    return Unavailable("PLACE_UNREACHABLE", f"The server did not answer within {seconds:g} s.")


def refused_sign_in() -> NotAllowed:
    return NotAllowed(
        "PLACE_SIGN_IN_FAILED", "The server refused the credentials. Check user name and password."
    )


def not_found(name: str) -> NotThere:
    return NotThere("FILE_NOT_FOUND", f"There is no file {name} any more.")


def no_folder(name: str) -> NotThere:
    return NotThere("PLACE_NOT_FOUND", f"There is no folder {name}.")


def refusal(why: str) -> PermanentError:
    return PermanentError("PLACE_REFUSED", why)


def bad_address(why: str) -> BadInput:
    return BadInput("INVALID_PARAMETERS", f"address: {why}")


def bad_credentials(why: str) -> BadInput:
    return BadInput("INVALID_PARAMETERS", f"credentials: {why}")
