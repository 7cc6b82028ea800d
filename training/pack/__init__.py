"""Model files: float tensors to `.bin`, and back, and the numpy reference of the forward pass.

    pack.py     float tensors, or an already quantized table, -> .bin
    convert.py  .bin -> .bin with another table format
    unpack.py   .bin -> tensors -> vector: the reference that the engine is held against
    verify.py   the engine against the reference over texts
    codes.py    small integers in bytes, and the quantization rules

Needs numpy; safetensors only for `.safetensors` files. Run `python -m training.pack --help`.
"""
