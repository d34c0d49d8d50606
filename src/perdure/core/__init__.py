"""The pure core: from facts and a message to further facts. No clock, no disk, no chance."""
