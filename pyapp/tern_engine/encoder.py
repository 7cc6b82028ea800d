"""The forward pass, written once at load as a short program that the kernel runs.

Shapes: tokens are those of all texts of a call, one after another; rows are the distinct ones of
each text; chunk is the number of rows that one `rows` group works on at a time, small enough for
its buffers to stay in the cache.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from .errors import KernelSelfTestError
from .format import Header
from .kernels import Kernel, _ops
from .model import Layer, Layout, Linear, Model, Norm, padded_head, round_up

CHUNK_ROWS = 32
MAX_TEXTS = 64  # texts of one call
REMEMBERED = 2048  # tokens whose layer-1 q, k, v are kept; a power of two
MIN_ROW_CAPACITY = 512  # tokens of one call, or the longest text when that is more
# Floats between the rows of `hidden`: 16 rows 4 KB apart would all compete for the same 8 lines of
# the first cache.
HIDDEN_GAP = 16
TILE_ROWS = 4  # rows that quantize.c treats at a time


@dataclass(frozen=True)
class Scratch:
    """Offsets of the buffers of a call, f32 where not said otherwise.

    input u32: number of texts, 3 unused, lengths [MAX_TEXTS] and, from `ids` on, ids [tokens];
    places u32 [tokens]; distinct u32 [rows + 4]; counts u32 [MAX_TEXTS];
    x [rows][d]; qkv [rows][3][heads][head];
    fresh [chunk][3][heads][head]; missing u32 [chunk]; keys u32 [REMEMBERED];
    values [REMEMBERED][3][heads][head]; mixed [rows][d]; hidden [chunk][ffn + HIDDEN_GAP];
    row [TILE_ROWS][d];
    codes i16 [chunk][padded columns];
    inverse_scale [chunk]; bounds u32 [chunk][2]; narrow i16 and wide i32 [widest output][16];
    attention see attention.c;
    pooled [MAX_TEXTS][d]; out [MAX_TEXTS][padded output].
    """

    input: int
    ids: int
    places: int
    distinct: int
    counts: int
    x: int
    qkv: int
    fresh: int
    missing: int
    keys: int
    values: int
    mixed: int
    hidden: int
    row: int
    codes: int
    inverse_scale: int
    bounds: int
    narrow: int
    wide: int
    attention: int
    pooled: int
    out: int


def row_capacity(header: Header) -> int:
    """Most tokens of one call."""
    return max(MIN_ROW_CAPACITY, header.max_seq_len)


def place_scratch(header: Header, padded_output: int, layout: Layout) -> Scratch:
    """Plan the buffers of a call."""
    d, ffn, rows = header.d_model, header.ffn_dim, row_capacity(header)
    head, keys = padded_head(header), round_up(header.max_seq_len, 8)
    qkv = 3 * header.n_heads * head
    widest = max(qkv, ffn)
    ids_at = 4 + MAX_TEXTS
    source = layout.place(4 * (ids_at + rows))
    return Scratch(
        input=source,
        ids=source + 4 * ids_at,
        places=layout.place(4 * rows),
        distinct=layout.place(4 * (rows + 4)),
        counts=layout.place(4 * MAX_TEXTS),
        x=layout.place(4 * rows * d),
        qkv=layout.place(4 * rows * qkv),
        fresh=layout.place(4 * CHUNK_ROWS * qkv),
        missing=layout.place(4 * CHUNK_ROWS),
        keys=layout.place(4 * REMEMBERED),
        values=layout.place(4 * REMEMBERED * qkv),
        mixed=layout.place(4 * rows * d),
        hidden=layout.place(4 * CHUNK_ROWS * (ffn + HIDDEN_GAP)),
        row=layout.place(4 * TILE_ROWS * d),
        codes=layout.place(2 * CHUNK_ROWS * round_up(max(d, ffn), 32)),
        inverse_scale=layout.place(4 * CHUNK_ROWS),
        bounds=layout.place(8 * CHUNK_ROWS),
        narrow=layout.place(32 * widest),
        wide=layout.place(64 * widest),
        attention=layout.place(4 * ((head + round_up(head, 8) + 16) * keys + 16 * head)),
        pooled=layout.place(4 * MAX_TEXTS * d),
        out=layout.place(4 * MAX_TEXTS * padded_output),
    )


def forward_pass(model: Model, at: Scratch) -> list[list[int]]:
    """The program: one list of words an instruction."""
    header, weights = model.header, model.weights
    d, ffn = header.d_model, header.ffn_dim
    hidden_stride = ffn + HIDDEN_GAP
    program: list[list[int]] = []

    def rows(*instructions: list[int]) -> None:
        program.append(_ops.rows(count=len(instructions), chunk=CHUNK_ROWS))
        program.extend(instructions)

    def quantize(
        source: int,
        columns: int,
        *,
        norm: Norm | None = None,
        local: bool = False,
        only: int = 0,
        stride: int = 0,
    ) -> list[int]:
        return _ops.quantize(
            source=source,
            stride=stride or columns,
            source_local=int(local),
            rows=only,
            gamma=norm.gamma if norm else 0,
            beta=norm.beta if norm else 0,
            row=at.row,
            codes=at.codes,
            inverse_scale=at.inverse_scale,
            bounds=at.bounds,
            columns=columns,
            padded=round_up(columns, 32),
        )

    def product(
        linear: Linear, target: int, mode: int, *, local: bool = False, stride: int = 0
    ) -> list[int]:
        return _ops.product(
            codes=at.codes,
            inverse_scale=at.inverse_scale,
            bounds=at.bounds,
            weights=linear.weights,
            indexes=linear.indexes,
            narrow=at.narrow,
            wide=at.wide,
            inverse_weight=linear.inverse_scale,
            bias=linear.bias,
            target=target,
            stride=stride or linear.outputs,
            target_local=int(local),
            columns=linear.columns,
            outputs=linear.outputs,
            mode=mode,
        )

    def first_qkv(layer: Layer) -> None:
        """As qkv(), but only for tokens whose rows are not remembered."""
        memory = {
            "ids": at.distinct,
            "keys": at.keys,
            "values": at.values,
            "slots": REMEMBERED,
            "target": at.qkv,
            "width": layer.qkv.outputs,
            "missing": at.missing,
        }
        rows(
            _ops.recall(**memory),
            quantize(at.x, d, norm=layer.ln_1, only=at.missing),
            product(layer.qkv, at.fresh, _ops.MODE_STORE, local=True),
            _ops.remember(**memory, source=at.fresh),
        )

    def qkv(layer: Layer) -> None:
        rows(
            quantize(at.x, d, norm=layer.ln_1),
            product(layer.qkv, at.qkv, _ops.MODE_STORE),
        )

    def attention() -> None:
        program.append(
            _ops.attend(
                qkv=at.qkv,
                target=at.mixed,
                scratch=at.attention,
                heads=header.n_heads,
                d_head=header.d_head,
                padded_head=padded_head(header),
                places=at.places,
            )
        )

    def mix_and_feed_forward(layer: Layer) -> None:
        rows(
            quantize(at.mixed, d),
            product(layer.out, at.x, _ops.MODE_ADD),
            quantize(at.x, d, norm=layer.ln_2),
            product(layer.up, at.hidden, _ops.MODE_GELU, local=True, stride=hidden_stride),
            quantize(at.hidden, ffn, local=True, stride=hidden_stride),
            product(layer.down, at.x, _ops.MODE_ADD),
        )

    program.append(_ops.distinct(ids=at.ids, places=at.places, rows=at.distinct, counts=at.counts))
    program.append(
        _ops.gather(
            ids=at.distinct,
            table=weights.table,
            row_scale=weights.row_scale,
            target=at.x,
            row_bytes=weights.row_bytes,
            d_model=d,
            vocab=header.vocab_size,
        )
    )
    for i, layer in enumerate(weights.layers):
        qkv(layer) if i else first_qkv(layer)
        attention()
        mix_and_feed_forward(layer)
    program.append(
        _ops.pool(
            source=at.x,
            gamma=weights.ln_final.gamma,
            beta=weights.ln_final.beta,
            target=at.pooled,
            d_model=d,
            places=at.places,
        )
    )
    program.append(
        _ops.project(
            source=at.pooled,
            weights=weights.projection,
            bias=weights.projection_bias,
            target=at.out,
            d_model=d,
            padded=weights.padded_output,
        )
    )
    return program


class Encoder:
    """Runs the forward pass of up to MAX_TEXTS texts and row_capacity tokens in one call."""

    def __init__(self, kernel: Kernel, model: Model, layout: Layout) -> None:
        header = model.header
        self.scratch = place_scratch(header, model.weights.padded_output, layout)
        program = forward_pass(model, self.scratch)
        self._program = layout.place(4 * _ops.INSTRUCTION_WORDS * len(program))
        self._count = len(program)
        kernel.reserve(layout.end)
        kernel.write(self._program, array("I", [word for line in program for word in line]))
        self.row_capacity = row_capacity(header)
        self.out_stride = 4 * model.weights.padded_output
        bad = kernel.call(
            "check_program",
            *(self._program, self._count, self.row_capacity, MAX_TEXTS, header.max_seq_len),
        )
        if bad >= 0:
            raise KernelSelfTestError(
                field=f"instruction {bad} of the forward pass",
                found=program[min(bad, len(program) - 1)],
                expected="known, and inside the kernel's memory",
            )
        self._kernel = kernel
        self._input = array("I", bytes(4 * (4 + MAX_TEXTS + self.row_capacity)))
        kernel.call("fill_zero", self.scratch.keys, 4 * REMEMBERED)
        kernel.call("choose", self._program, self._count, self.scratch.input)
        self._window = kernel.window(self.scratch.input, 4 * len(self._input))
        self.out = kernel.window(self.scratch.out, MAX_TEXTS * self.out_stride)

    def run(self, texts: list[list[int]]) -> None:
        """Embed texts given as ids; the results stand in `out`, out_stride bytes apart."""
        words = self._input
        words[0] = len(texts)
        at = 4 + MAX_TEXTS
        for i, ids in enumerate(texts, 4):
            words[i] = len(ids)
            words[at : at + len(ids)] = array("I", ids)
            at += len(ids)
        self._window.assign(words)
        self._kernel.call("run_chosen")
