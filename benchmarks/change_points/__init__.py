"""Change points: on series that people have annotated, on the paper's shift, and what they cost."""
