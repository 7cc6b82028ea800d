"""The benchmark: this engine and its peer, side by side, in one run (`python3 build.py bench`)."""
