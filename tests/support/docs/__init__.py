"""What the tests of pages of the documentation compare with."""
