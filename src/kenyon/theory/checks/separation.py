"""What is claimed of separation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kenyon.theory.claim import Claim

CLAIMS: tuple[Claim, ...] = ()
