"""Files and data sets that tests write and read."""
