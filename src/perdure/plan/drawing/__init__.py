"""Pictures of a plan: a tree for the terminal, Mermaid text, an SVG, a page. They only look; they change nothing."""
