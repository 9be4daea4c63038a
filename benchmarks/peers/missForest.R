# missForest: random forests, one part after the other.
suppressPackageStartupMessages(library(missForest))

run_tasks(list(
  "missForest" = function(cell) {
    parts_of(cell, list(missForest(joined(cell, cell$y))$ximp))
  }
))
