"""Other machines than this one, imitated."""
