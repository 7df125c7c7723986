"""Checksums of JSON objects and files."""

import json

import pytest

from readagain.storage.checksums import add_checksum, verify_checksum

CONTENT = {"step": 3, "loss": 1.5, "files": {"a": None}, "names": ["é", "\ud800"]}


def test_verify_checksum_returns_content():
    assert verify_checksum(json.dumps(add_checksum(CONTENT), indent=2).encode()) == CONTENT


def test_verify_checksum_refuses_any_flipped_bit():
    content = json.dumps(add_checksum(CONTENT)).encode()
    for position in range(len(content)):
        for bit in range(8):
            changed = (
                content[:position] + bytes([content[position] ^ 1 << bit]) + content[position + 1 :]
            )
            # The content is equal if a space became another kind of space.
            assert verify_checksum(changed) in (None, CONTENT)


@pytest.mark.parametrize("content", [b"", b"{", b"{}", b"[]", b"3", b"[" * 100_000, b"\xff"])
def test_verify_checksum_refuses_other_content(content):
    assert verify_checksum(content) is None
