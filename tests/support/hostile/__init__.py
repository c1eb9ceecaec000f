"""Input that is wrong, damaged, changed meanwhile, or made to be slow."""
