"""Calls that fastmetrics and scikit-learn must answer alike, and strategies that draw them."""
