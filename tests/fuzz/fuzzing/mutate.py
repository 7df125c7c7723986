"""Deterministic mutations of seeds: each `index` always gives the same bytes."""

import re
from collections.abc import Sequence
from random import Random

MAX_BYTES = 20_000
MOST_CHANGES = 6
# Bytes that parsers take for more than themselves.
TOKENS = (
    b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"\xe2\x80\xa8",
    b"\xf0\x9f\x98\x80", b"\xc2\xa0", b"\xe2\x80\x9c", b"\r\n", b"\n\n", b"\t", b'"', b"'",
    b"\\", b"\\ud800", b"{", b"}", b"[", b"]", b",", b":", b"=", b"<", b">", b"&", b"&#x110000;",
    b"]]>", b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"<?xml encoding='gbk'?>", b"-1", b"0", b"1e999",
    b"NaN", b"9" * 30, b"9" * 5000, b"true", b"null", b"../../x", b"/etc/passwd", b"[" * 3000,
    b'{"a":' * 1500, b"a=[" * 1500, b" " * 4000, b"(" * 4000, b"." * 4000, b"A.B" * 1500,
    b"@highlight", b"UNK", b"...", b"U.S.", b"'s", b"location",
    # Many small items; marks of two classes, which NFC sorts; marks that reverse a line.
    b"1," * 4000, b'"",' * 3000, b"{}," * 3000, b"<a/>" * 2000, b"\n" * 4000, b",\n" * 2000,
    b"a" + b"\xcc\x81" * 3000 + b"\xcc\x96" * 3000, b"\xcc\x96\xcc\x81" * 40,
    b"\xe2\x80\xae", b"\xe2\x81\xa6", b"\x1b[2J",
)  # fmt: skip
# Words and numbers of JSON and TOML, and what may stand where they stand.
VALUE = re.compile(rb'"[^"\\\n]*"|-?\d+(?:\.\d+)?|true|false|null')
VALUES = (
    b'""', b'"x"', b'"\\ud800"', b'"\\u0000"', b'"a\\nb"', b'"../x"', b"0", b"-1", b"1.5",
    b"1e400", b"NaN", b"true", b"null", b"[]", b"[1]", b'["a", []]', b"{}", b'{"a": 1}',
    b"9223372036854775808", b"9" * 400, b"4294967296",
)  # fmt: skip


def mutated(seeds: Sequence[bytes], name: str, seed: int, index: int) -> bytes:
    """Return input `index` of a target's series; the first are the seeds themselves."""
    if index < len(seeds):
        return seeds[index]
    random = Random(f"{name} {seed} {index}")
    data = bytearray(random.choice(seeds))
    for _ in range(random.randint(1, MOST_CHANGES)):
        _CHANGES[random.randrange(len(_CHANGES))](data, random, seeds)
    return bytes(data[:MAX_BYTES])


def _flip(data: bytearray, random: Random, seeds: Sequence[bytes]) -> None:
    if data:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def _set_byte(data: bytearray, random: Random, seeds: Sequence[bytes]) -> None:
    if data:
        data[random.randrange(len(data))] = random.randrange(256)


def _insert_token(data: bytearray, random: Random, seeds: Sequence[bytes]) -> None:
    place = random.randint(0, len(data))
    data[place:place] = random.choice(TOKENS)


def _insert_noise(data: bytearray, random: Random, seeds: Sequence[bytes]) -> None:
    place = random.randint(0, len(data))
    data[place:place] = random.randbytes(random.randint(1, 16))


def _delete(data: bytearray, random: Random, seeds: Sequence[bytes]) -> None:
    begin, end = _slice(data, random)
    del data[begin:end]


def _cut(data: bytearray, random: Random, seeds: Sequence[bytes]) -> None:
    del data[random.randint(0, len(data)) :]


def _repeat(data: bytearray, random: Random, seeds: Sequence[bytes]) -> None:
    begin, end = _slice(data, random)
    piece = bytes(data[begin:end])
    data[end:end] = piece * random.choice((1, 2, 50, max(1, MAX_BYTES // (len(piece) or 1))))


def _splice(data: bytearray, random: Random, seeds: Sequence[bytes]) -> None:
    other = random.choice(seeds)
    begin, end = _slice(other, random)
    place = random.randint(0, len(data))
    data[place : place + random.choice((0, end - begin))] = other[begin:end]


def _number(data: bytearray, random: Random, seeds: Sequence[bytes]) -> None:
    """Replace four or eight bytes at a random position by a changed number."""
    size = random.choice((1, 2, 4, 8))
    if len(data) >= size:
        place = random.randint(0, len(data) - size)
        number = random.choice((0, 1, -1, 1 << (8 * size - 1), random.getrandbits(8 * size)))
        data[place : place + size] = (number % (1 << 8 * size)).to_bytes(size, "little")


def _value(data: bytearray, random: Random, seeds: Sequence[bytes]) -> None:
    """Exchange a value, so that the document stays well-formed and means something else."""
    places = [match.span() for match in VALUE.finditer(data)]
    if places:
        begin, end = random.choice(places)
        data[begin:end] = random.choice(VALUES)


def _slice(data: bytes | bytearray, random: Random) -> tuple[int, int]:
    begin = random.randint(0, len(data))
    return begin, min(len(data), begin + random.choice((1, 2, 8, 64, 512)))


_CHANGES = (
    _flip, _set_byte, _insert_token, _insert_noise, _delete, _cut, _repeat, _splice, _number,
    _value, _value,
)  # fmt: skip
