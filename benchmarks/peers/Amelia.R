# Amelia: a joint normal of shares, or of their logarithms, with a ridge prior of 5% of the rows.
suppressPackageStartupMessages(library(Amelia))

drawn <- function(cell, parts, low, top) {
  data <- joined(cell, parts)
  bounds <- NULL
  if (!is.null(top)) bounds <- cbind(seq_along(top), low, top)
  found <- amelia(data, m = IMPUTATIONS, p2s = 0, empri = 0.05 * nrow(data), bounds = bounds,
                  incheck = FALSE)
  if (found$code != 1) stop(found$message)
  parts_of(cell, found$imputations)
}

run_tasks(list(
  "Amelia" = function(cell) drawn(cell, cell$y, 0, cell$limits),
  "Amelia, logs" = function(cell) {
    top <- if (is.null(cell$limits)) NULL else log(cell$limits)
    lapply(drawn(cell, cell$logs, -100, top), exp)
  }
))
