# robCompositions: robust regressions of isometric log-ratios, and neighbours by Aitchison distance.
suppressPackageStartupMessages(library(robCompositions))

run_tasks(list(
  "robCompositions impCoda" = function(cell) {
    list(as.matrix(impCoda(as.data.frame(exp(cell$logs)))$xImp))
  },
  "robCompositions impKNNa" = function(cell) list(as.matrix(impKNNa(exp(cell$logs))$xImp))
))
