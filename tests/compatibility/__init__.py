"""What version 0.1 promised: its public names, its numbers and its files. Later versions are compared with them."""
