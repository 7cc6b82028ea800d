"""python -m tern_tools: the command line."""

from .cli import main

main()
