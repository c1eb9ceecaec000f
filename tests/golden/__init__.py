"""The values of every public function and of every metric, to the last bit: a change of one has to be meant."""
