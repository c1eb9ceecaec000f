"""Metrics of one's own, registered with `fastmetrics.extend`. Each module is one metric; import it to register it."""
