"""Reports: facts from a run's folder, one writer per format. Sees only data, so a report can be rebuilt offline."""
