"""Ready-made worlds, each for one trade, built on what everybody else can use."""
