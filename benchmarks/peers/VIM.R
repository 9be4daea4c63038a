# VIM: nearest neighbours by Gower's distance, and iterated regressions.
suppressPackageStartupMessages(library(VIM))

run_tasks(list(
  "VIM kNN" = function(cell) {
    parts_of(cell, list(kNN(joined(cell, cell$y), variable = colnames(cell$y), imp_var = FALSE)))
  },
  "VIM irmi" = function(cell) {
    parts_of(cell, list(irmi(joined(cell, cell$y), imp_var = FALSE, noise = FALSE)))
  }
))
