"""Reports and logs that tests of results and of plots share."""
