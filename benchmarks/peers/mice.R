# mice: predictive mean matching of shares, and normal regressions of their logarithms.
suppressPackageStartupMessages(library(mice))

chained <- function(cell, parts, method, top) {
  data <- joined(cell, parts)
  post <- make.post(data)
  if (!is.null(top)) {
    for (j in seq_along(top)) {
      post[j] <- sprintf("imp[[j]][, i] <- squeeze(imp[[j]][, i], c(-Inf, %.17g))", top[j])
    }
  }
  found <- mice(data, m = IMPUTATIONS, method = method, post = post, printFlag = FALSE, seed = 1,
                remove.collinear = FALSE)
  parts_of(cell, lapply(seq_len(IMPUTATIONS), function(i) complete(found, i)))
}

run_tasks(list(
  "mice pmm" = function(cell) chained(cell, cell$y, "pmm", cell$limits),
  "mice norm, logs" = function(cell) {
    top <- if (is.null(cell$limits)) NULL else log(cell$limits)
    lapply(chained(cell, cell$logs, "norm", top), exp)
  }
))
