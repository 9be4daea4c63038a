# Runs a batch of tasks. The script of a family of peers comes after this one, and calls `run_tasks`
# with a list of functions: each takes a cell and returns a list of completed tables. The folder
# that is the argument of Rscript has tasks.csv (folders of cells, methods, names of results). A
# cell has X.csv (features), y.csv (shares), logs.csv (their logarithms) and, if holes have limits,
# limits.csv (one for each part).

IMPUTATIONS <- 5

read_table <- function(path) {
  if (!file.exists(path) || file.size(path) == 0) return(NULL)
  as.matrix(read.csv(path, check.names = FALSE))
}

read_cell <- function(folder) {
  part <- function(name) read_table(file.path(folder, paste0(name, ".csv")))
  limits <- part("limits")
  cell <- list(X = part("X"), y = part("y"), logs = part("logs"), limits = c(limits))
  if (is.null(limits)) cell$limits <- NULL
  cell
}

# The features beside the parts, or beside their logarithms, as one data frame.
joined <- function(cell, parts) as.data.frame(if (is.null(cell$X)) parts else cbind(parts, cell$X))

# The parts of completed data frames, as a list of matrices.
parts_of <- function(cell, frames) {
  lapply(frames, function(frame) as.matrix(frame[, colnames(cell$y)]))
}

run_tasks <- function(methods) {
  folder <- commandArgs(trailingOnly = TRUE)[1]
  tasks <- read.csv(file.path(folder, "tasks.csv"), colClasses = "character")
  for (i in seq_len(nrow(tasks))) {
    set.seed(1)
    cell <- read_cell(file.path(folder, tasks$cell[i]))
    out <- file.path(folder, tasks$cell[i], tasks$file[i])
    start <- proc.time()[["elapsed"]]
    found <- tryCatch(
      list(tables = suppressWarnings(methods[[tasks$method[i]]](cell))),
      error = function(e) list(reason = conditionMessage(e))
    )
    seconds <- proc.time()[["elapsed"]] - start
    if (is.null(found$reason)) {
      write.csv(do.call(rbind, found$tables), paste0(out, ".csv"), row.names = FALSE)
    }
    writeLines(c(format(seconds), gsub("\n", " ", found$reason)), paste0(out, ".part"))
    file.rename(paste0(out, ".part"), paste0(out, ".done"))
  }
}
