# zCompositions: log-ratios of the parts alone. Holes with limits are left-censored, others missing.
suppressPackageStartupMessages(library(zCompositions))

# The function gets those of the arguments that this version of the package has. Without a complete
# column the logarithms of ratios to one part are unknown, and the robust form of lrEM is used.
filled <- function(cell, method, ...) {
  y <- exp(cell$logs)
  if (is.null(cell$limits)) {
    about <- list(label = NA, imp.missing = TRUE)
  } else {
    y[is.na(y)] <- 0
    about <- list(label = 0, dl = cell$limits)
  }
  about <- c(about, z.delete = FALSE, z.warning = 1, suppress.print = TRUE,
             rob = identical(method, lrEM) && all(colSums(is.na(cell$y)) > 0), ...)
  found <- do.call(method, c(list(y), about[names(about) %in% names(formals(method))]))
  lapply(if (is.data.frame(found)) list(found) else found, as.matrix)
}

run_tasks(list(
  "zCompositions multLN" = function(cell) filled(cell, multLN),
  "zCompositions multRepl" = function(cell) filled(cell, multRepl),
  "zCompositions lrEM" = function(cell) filled(cell, lrEM, ini.cov = "multRepl"),
  "zCompositions lrDA" = function(cell) {
    filled(cell, lrDA, ini.cov = "multRepl", m = IMPUTATIONS, store.mi = TRUE)
  }
))
