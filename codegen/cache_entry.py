"""One file of the disk cache: bytes that check themselves.

magic, version, length of the header, length of the contents; the header, JSON: kind, key and
environment; the contents; a SHA-256 of all before it. Nothing is ever unpickled.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping

from ..staging.dataclass import dataclass

_MAGIC = b"parloom\0"
_VERSION = 2
_HEAD = struct.Struct("<8sIIQ")
_DIGEST = 32


class Unusable(RuntimeError):
    """What an entry holds is of no use to this process; the message says why."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What an entry is made from.

    kind : what its contents are: "llvm", "numba", ...
    key : digest of all that they depend on within a program
    environment : what they depend on besides, by name: versions, the processor
    """

    kind: str
    key: str
    environment: Mapping[str, str]

    @property
    def stem(self) -> str:
        """The beginning of the file's name, the same in every environment."""
        return f"{_short(self.kind, self.key)}-"

    @property
    def name(self) -> str:
        """The name of the file."""
        surroundings = (f"{name} {value}" for name, value in sorted(self.environment.items()))
        return f"{self.stem}{_short(*surroundings)}.{self.kind}.plc"

    def header(self) -> bytes:
        """The header of the file."""
        fields = {"kind": self.kind, "key": self.key, "environment": dict(self.environment)}
        return json.dumps(fields, sort_keys=True).encode()


def _short(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def encode(identity: Identity, contents: bytes) -> bytes:
    """The file."""
    header = identity.header()
    body = _HEAD.pack(_MAGIC, _VERSION, len(header), len(contents)) + header + contents
    return body + hashlib.sha256(body).digest()


def decode(data: bytes, identity: Identity) -> bytes:
    """The contents of a file; Unusable if it is not whole, or is another entry."""
    header, contents = _split(data)
    if header != identity.header():
        raise Unusable("corrupt: the entry of something else")
    return contents


def environment(data: bytes) -> dict[str, str]:
    """The environment that a file was made in; Unusable if the file is not whole."""
    header, _ = _split(data)
    found: dict[str, str] = json.loads(header)["environment"]
    return found


def _split(data: bytes) -> tuple[bytes, bytes]:
    body, digest = data[:-_DIGEST], data[-_DIGEST:]
    if len(body) < _HEAD.size:
        raise Unusable("corrupt: cut off")
    magic, version, header, contents = _HEAD.unpack_from(body)
    if magic == _MAGIC and version != _VERSION:
        raise Unusable(f"other format: {version}, not {_VERSION}")
    if hashlib.sha256(body).digest() != digest:
        raise Unusable("corrupt: the checksum does not fit")
    if magic != _MAGIC or len(body) != _HEAD.size + header + contents:
        raise Unusable("corrupt: no entry of a cache")
    return body[_HEAD.size : _HEAD.size + header], body[_HEAD.size + header :]
