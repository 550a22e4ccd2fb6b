"""A picture of one color in 256 strengths as a PNG file, which is what the page needs of image formats."""

import base64
import struct
import zlib

import numpy as np
import numpy.typing as npt

COLOR = (47, 128, 210)  # blue that stands out from white and from black


def as_data_uri(strength: npt.NDArray[np.uint8]) -> str:
    """The picture as an address that holds it; strength : uint8, shape (height, width), 0 is transparent.

    >>> as_data_uri(np.zeros((2, 3), np.uint8))[:32]
    'data:image/png;base64,iVBORw0KGg'
    """
    height, width = strength.shape
    rows = np.zeros((height, width + 1), np.uint8)  # each row starts with the number of its filter: none
    rows[:, 1:] = strength
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)  # 8 bits a pixel, the place in a palette
    file = b"\x89PNG\r\n\x1a\n" + b"".join([
        _chunk(b"IHDR", header),
        _chunk(b"PLTE", bytes(COLOR) * 256),
        _chunk(b"tRNS", bytes(range(256))),
        _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)),
        _chunk(b"IEND", b""),
    ])  # fmt: skip
    return "data:image/png;base64," + base64.b64encode(file).decode()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
