"""Number many short ids faster than a general dictionary: fifteen bytes fit into two words."""

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from agon.kernel.compiling import COMPILED_FROM, compile_loop

_MAX_BYTES = np.uint64(15)  # two words, less one byte for the length
_SLOTS = 1 << 12  # of a table that stays in the fastest cache; where there are more ids, the next
_FULLER = 32  # times as many stay in the next cache, and take 65,536 ids without crowding

# Constants of the compiled loop, unsigned as its words are.
_MIX_ONE, _MIX_TWO = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_U1, _U2, _U3, _U7 = (np.uint64(number) for number in (1, 2, 3, 7))
_U56, _U63 = np.uint64(56), np.uint64(63)


def number_short_ids(column: Any) -> tuple[Any, npt.NDArray[np.int32]] | None:
    """Number the ids of a pyarrow text column by first appearance: ``(distinct ids, numbers)``.

    ``None`` when this is not the column for it: few rows, an id of more than 15 bytes, a null,
    another type than (large) text, or a machine of the other byte order.
    """
    import pyarrow as pa

    text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    if not text or column.null_count or len(column) < COMPILED_FROM or sys.byteorder != "little":
        return None
    _, ends, data = column.buffers()
    kind = np.int32 if pa.types.is_string(column.type) else np.int64
    offsets = np.frombuffer(ends, dtype=kind)[column.offset : column.offset + len(column) + 1]
    text_bytes = np.frombuffer(b"" if data is None else data, dtype=np.uint8)
    aligned = len(text_bytes) // 8 * 8
    # Reading an id takes three words. The last ids, near the end of the text, are read from a
    # padded copy of its tail; all others from the text itself.
    cut = max(0, aligned - 24)
    tail = np.zeros(8, dtype=np.uint64)
    tail.view(np.uint8)[: len(text_bytes) - cut] = text_bytes[cut:]
    reaches_tail = int(np.searchsorted(offsets[:-1], cut))
    masks = np.array(
        [[(1 << 8 * min(size, 8)) - 1, (1 << 8 * max(size - 8, 0)) - 1] for size in range(16)],
        dtype=np.uint64,
    )
    numbers = np.empty(len(column), dtype=np.int32)
    slots = _SLOTS
    while True:
        keys = np.empty((slots // 2, 2), dtype=np.uint64)
        firsts = np.empty(slots // 2, dtype=np.int64)
        table = np.full(slots, -1, dtype=np.int32)
        parts = (text_bytes[:aligned].view(np.uint64), 0, reaches_tail), (tail, cut, len(column))
        row_count, id_count = 0, 0
        for words, begin, stop in parts:
            if row_count < stop:
                row_count, id_count = compile_loop(_number)(
                    words,
                    offsets,
                    begin,
                    masks,
                    table,
                    keys,
                    firsts,
                    numbers,
                    row_count,
                    stop,
                    id_count,
                )
            if row_count < stop:
                break
        if row_count == len(column):
            return column.take(pa.array(firsts[:id_count])), numbers
        if id_count < len(firsts):  # stopped at an id that is too long
            return None
        slots *= _FULLER


def _number(  # noqa: PLR0913, PLR0917  # a compiled loop takes its columns one by one
    words: Any,
    offsets: Any,
    begin: int,
    masks: Any,
    table: Any,
    keys: Any,
    firsts: Any,
    numbers: Any,
    start: int,
    stop: int,
    id_count: int,
) -> tuple[int, int]:
    """Number rows until one is too long or the table half full: ``(rows, distinct ids)``.

    An id becomes two words, its bytes and its length, which are compared in full: no two ids share
    them. The words are cut out of the text by shifts, without a branch on where an id begins.
    """
    wrap = np.uint64(len(table) - 1)
    unused = np.uint64(64 - np.log2(len(table)))
    end = np.uint64(offsets[start] - begin)
    for row in range(start, stop):
        # Unsigned indices: a signed one is compared with 0 first, as it may count from the end.
        place = np.uint64(row)
        byte, end = end, np.uint64(offsets[place + _U1] - begin)
        length = end - byte
        if length > _MAX_BYTES:
            return row, id_count
        # The id begins within a word: what lies before it is shifted out, and the next word's
        # beginning in.
        index, shift = byte >> _U3, (byte & _U7) << _U3
        # 63 − shift and one more bit: a shift by 64, where the id begins at a word, is undefined.
        rest = _U63 - shift
        middle = words[index + _U1]
        word = ((words[index] >> shift) | ((middle << _U1) << rest)) & masks[length, 0]
        two = ((middle >> shift) | ((words[index + _U2] << _U1) << rest)) & masks[length, 1]
        # The top byte is free, since ids have at most 15 bytes: "a" and "a\0" differ by it.
        two |= length << _U56
        mixed = (word * _MIX_ONE) ^ (two * _MIX_TWO)
        slot = mixed >> unused  # the highest bits of a product depend on all of its factor
        number = table[slot]
        while number >= 0 and (
            keys[np.uint64(number), 0] != word or keys[np.uint64(number), 1] != two
        ):
            slot = (slot + _U1) & wrap
            number = table[slot]
        if number < 0:
            # Half full: the caller doubles the table and goes on from this row.
            if id_count == len(firsts):
                return row, id_count
            number = np.int32(id_count)
            table[slot] = number
            keys[id_count, 0] = word
            keys[id_count, 1] = two
            firsts[id_count] = row
            id_count += 1
        numbers[place] = number
    return stop, id_count
