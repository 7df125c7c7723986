"""JSON objects with a checksum of themselves in them, so that no changed bit is believed."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

SEAL = "seal"


def add_checksum(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts with their checksum beside them."""
    return {**facts, SEAL: _checksum(facts)}


def verify_checksum(content: bytes) -> dict[str, Any] | None:
    """Read what was sealed and written as JSON; None for anything else."""
    try:
        facts = json.loads(content)
        found = facts.pop(SEAL)
    except (ValueError, RecursionError, AttributeError, TypeError, KeyError, IndexError):
        return None
    return facts if isinstance(facts, dict) and found == _checksum(facts) else None


def _checksum(facts: Mapping[str, Any]) -> str:
    return sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
