"""Sealed JSON: what was written is read, anything else is not."""

import json

import pytest

from readagain.sealed import add_checksum, verify_checksum

FACTS = {"step": 3, "loss": 1.5, "files": {"a": None}, "names": ["é", "\ud800"]}


def test_what_was_sealed_is_read_back():
    assert verify_checksum(json.dumps(add_checksum(FACTS), indent=2).encode()) == FACTS


def test_no_changed_bit_is_believed():
    content = json.dumps(add_checksum(FACTS)).encode()
    for place in range(len(content)):
        for bit in range(8):
            changed = content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]
            assert verify_checksum(changed) in (
                None,
                FACTS,
            )  # a space may become another kind of space


@pytest.mark.parametrize("content", [b"", b"{", b"{}", b"[]", b"3", b"[" * 100_000, b"\xff"])
def test_what_is_not_sealed_is_not_read(content):
    assert verify_checksum(content) is None
