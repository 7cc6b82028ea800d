"""Model files in a checkout: what tern_tools.models does, with the checkout's builds of the engine.

Needs numpy and click; safetensors only for `.safetensors` files.
Run `python -m training.pack --help`.
"""
