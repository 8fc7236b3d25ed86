"""How far classes are separated, in the sense of the paper's definition."""
