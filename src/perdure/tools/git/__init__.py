"""Git by its plumbing: ids that come out the same again, refs that are swapped only from where they were seen.

The settings of a repository are a stranger's code, and are treated so.
"""
