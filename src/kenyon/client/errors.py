"""The errors of the client."""

from __future__ import annotations


class ServerError(Exception):
    """The server answered with a problem.

    Attributes
    ----------
    status : int
        The status of HTTP, such as 404.
    title : str
    detail : str
        One sentence.
    was_repeated : bool
        Whether the request had been sent before, so that the first one may have been done.
    """

    was_repeated = False

    def __init__(self, status: int, title: str, detail: str) -> None:
        super().__init__(f"{detail} ({status} {title})")
        self.status = status
        self.title = title
        self.detail = detail


class Unreachable(ConnectionError):  # noqa: N818
    """The server could not be reached, or did not answer, however often it was tried."""
