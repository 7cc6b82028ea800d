"""python -m tern_tools: the command line."""

from .cli import main

if __name__ == "__main__":  # and not in the processes that a bulk run starts
    main()
