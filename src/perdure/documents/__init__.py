"""Documents: runs, questions, tools and the like as plain data, in the words that every face uses.

What `--json` prints, HTTP answers and an MCP client reads is made here, so that it is the same everywhere.
"""
