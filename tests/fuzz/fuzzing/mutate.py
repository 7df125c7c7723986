"""Mutations of seed inputs; they are deterministic, so that every input can be repeated."""

import re
from collections.abc import Sequence
from random import Random

MAX_BYTES = 20_000
"""Maximum size of an input."""
MAX_MUTATIONS = 6
"""Maximum number of mutations of an input."""
# Byte strings that parsers treat specially.
TOKENS = (
    b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"\xe2\x80\xa8",
    b"\xf0\x9f\x98\x80", b"\xc2\xa0", b"\xe2\x80\x9c", b"\r\n", b"\n\n", b"\t", b'"', b"'",
    b"\\", b"\\ud800", b"{", b"}", b"[", b"]", b",", b":", b"=", b"<", b">", b"&", b"&#x110000;",
    b"]]>", b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"<?xml encoding='gbk'?>", b"-1", b"0", b"1e999",
    b"NaN", b"9" * 30, b"9" * 5000, b"true", b"null", b"../../x", b"/etc/passwd", b"[" * 3000,
    b'{"a":' * 1500, b"a=[" * 1500, b" " * 4000, b"(" * 4000, b"." * 4000, b"A.B" * 1500,
    b"@highlight", b"UNK", b"...", b"U.S.", b"'s", b"location",
    # many small items
    b"1," * 4000, b'"",' * 3000, b"{}," * 3000, b"<a/>" * 2000, b"\n" * 4000, b",\n" * 2000,
    # combining marks above and below a letter, which Unicode normalization (NFC) sorts
    b"a" + b"\xcc\x81" * 3000 + b"\xcc\x96" * 3000, b"\xcc\x96\xcc\x81" * 40,
    # control characters: right-to-left override, left-to-right isolate, ANSI escape sequence
    b"\xe2\x80\xae", b"\xe2\x81\xa6", b"\x1b[2J",
)  # fmt: skip
VALUE = re.compile(rb'"[^"\\\n]*"|-?\d+(?:\.\d+)?|true|false|null')
"""Pattern of the strings, numbers and constants of JSON and TOML."""
VALUES = (
    b'""', b'"x"', b'"\\ud800"', b'"\\u0000"', b'"a\\nb"', b'"../x"', b"0", b"-1", b"1.5",
    b"1e400", b"NaN", b"true", b"null", b"[]", b"[1]", b'["a", []]', b"{}", b'{"a": 1}',
    b"9223372036854775808", b"9" * 400, b"4294967296",
)  # fmt: skip
"""Replacements for such values."""


def make_input(seed_inputs: Sequence[bytes], target: str, seed: int, index: int) -> bytes:
    """Return input number `index` of a target; the first inputs are the seed inputs."""
    if index < len(seed_inputs):
        return seed_inputs[index]
    random = Random(f"{target} {seed} {index}")
    data = bytearray(random.choice(seed_inputs))
    for _ in range(random.randint(1, MAX_MUTATIONS)):
        mutate = _MUTATIONS[random.randrange(len(_MUTATIONS))]
        mutate(data, random, seed_inputs)
    return bytes(data[:MAX_BYTES])


def _flip_bit(data: bytearray, random: Random, seed_inputs: Sequence[bytes]) -> None:
    if data:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def _set_byte(data: bytearray, random: Random, seed_inputs: Sequence[bytes]) -> None:
    if data:
        data[random.randrange(len(data))] = random.randrange(256)


def _insert_token(data: bytearray, random: Random, seed_inputs: Sequence[bytes]) -> None:
    position = random.randint(0, len(data))
    data[position:position] = random.choice(TOKENS)


def _insert_random_bytes(data: bytearray, random: Random, seed_inputs: Sequence[bytes]) -> None:
    position = random.randint(0, len(data))
    data[position:position] = random.randbytes(random.randint(1, 16))


def _delete_range(data: bytearray, random: Random, seed_inputs: Sequence[bytes]) -> None:
    start, end = _choose_range(data, random)
    del data[start:end]


def _truncate(data: bytearray, random: Random, seed_inputs: Sequence[bytes]) -> None:
    del data[random.randint(0, len(data)) :]


def _repeat_range(data: bytearray, random: Random, seed_inputs: Sequence[bytes]) -> None:
    start, end = _choose_range(data, random)
    content = bytes(data[start:end])
    repeats_to_max_size = max(1, MAX_BYTES // (len(content) or 1))
    data[end:end] = content * random.choice((1, 2, 50, repeats_to_max_size))


def _splice(data: bytearray, random: Random, seed_inputs: Sequence[bytes]) -> None:
    """Insert a range of another seed input, or overwrite as many bytes with it."""
    other = random.choice(seed_inputs)
    start, end = _choose_range(other, random)
    position = random.randint(0, len(data))
    num_overwritten = random.choice((0, end - start))
    data[position : position + num_overwritten] = other[start:end]


def _set_integer(data: bytearray, random: Random, seed_inputs: Sequence[bytes]) -> None:
    """Overwrite 1, 2, 4 or 8 bytes with a little-endian integer."""
    size = random.choice((1, 2, 4, 8))
    if len(data) >= size:
        position = random.randint(0, len(data) - size)
        number = random.choice((0, 1, -1, 1 << (8 * size - 1), random.getrandbits(8 * size)))
        data[position : position + size] = (number % (1 << 8 * size)).to_bytes(size, "little")


def _replace_value(data: bytearray, random: Random, seed_inputs: Sequence[bytes]) -> None:
    """Replace a value of JSON or TOML, so that the document stays well-formed."""
    spans = [match.span() for match in VALUE.finditer(data)]
    if spans:
        start, end = random.choice(spans)
        data[start:end] = random.choice(VALUES)


def _choose_range(data: bytes | bytearray, random: Random) -> tuple[int, int]:
    """Return start and end of a random range."""
    start = random.randint(0, len(data))
    return start, min(len(data), start + random.choice((1, 2, 8, 64, 512)))


_MUTATIONS = (
    _flip_bit, _set_byte, _insert_token, _insert_random_bytes, _delete_range, _truncate,
    _repeat_range, _splice, _set_integer, _replace_value, _replace_value,
)  # fmt: skip
"""Mutations; one that is listed twice is chosen twice as often."""
