# Jackknife and linearized errors by user and by day (T. Lumley's survey), and DeLong's by row (pROC).
suppressMessages({library(survey); library(pROC)})

log <- read.csv("clustered_log.csv")
log$loss <- -ifelse(log$click == 1, log(log$new), log(1 - log$new))
log$old_loss <- -ifelse(log$click == 1, log(log$old), log(1 - log$old))
log$right <- as.numeric((log$new >= 0.5) == (log$click == 1))
log$square <- (log$new - log$click)^2

entropy <- function(w) { p <- weighted.mean(log$click, w); -(p * log(p) + (1 - p) * log(1 - p)) }
area <- function(w, score) {
  positive <- log$click == 1
  pairs <- outer(score[positive], score[!positive], function(a, b) (a > b) + (a == b) / 2)
  weights <- outer(w[positive], w[!positive])
  sum(pairs * weights) / sum(weights)
}

values <- list()
keep <- function(name, value) values[[name]] <<- value
for (unit in c("user", "day")) for (weighted in c(FALSE, TRUE)) {
  log$w <- if (weighted) log$weight else rep(1, nrow(log))
  design <- svydesign(ids = as.formula(paste0("~", unit)), weights = ~w, data = log)
  jackknife <- as.svrepdesign(design, type = "JK1", mse = TRUE)
  of <- function(metric, method) paste(metric, unit, if (weighted) "weighted" else "plain", method)
  for (method in c("jackknife", "linearized")) {
    own <- if (method == "jackknife") jackknife else design
    keep(of("ctr", method), SE(svymean(~click, own))[[1]])
    keep(of("logloss", method), SE(svymean(~loss, own))[[1]])
    keep(of("brier", method), SE(svymean(~square, own))[[1]])
    keep(of("accuracy", method), SE(svymean(~right, own))[[1]])
    keep(of("copc", method), SE(svyratio(~click, ~new, own))[[1]])
  }
  for (name in c("ne", "auc", "rmse", "logloss difference", "auc difference")) {
    statistic <- switch(name,
      "ne" = function(w, data) weighted.mean(log$loss, w) / entropy(w),
      "rmse" = function(w, data) sqrt(weighted.mean(log$square, w)),
      "auc" = function(w, data) area(w, log$new),
      "logloss difference" = function(w, data) weighted.mean(log$loss - log$old_loss, w),
      "auc difference" = function(w, data) area(w, log$new) - area(w, log$old))
    keep(of(name, "jackknife"), SE(withReplicates(jackknife, statistic))[[1]])
  }
}
roc_of <- function(score) roc(log$click, score, levels = c(0, 1), direction = "<", quiet = TRUE)
keep("auc row plain delong", sqrt(var(roc_of(log$new), method = "delong")))
test <- roc.test(roc_of(log$new), roc_of(log$old), method = "delong", paired = TRUE)
keep("auc difference row plain delong", abs(diff(as.numeric(test$estimate))) / abs(test$statistic[[1]]))
keep("auc difference row plain pvalue", test$p.value)

versions <- paste0("R ", getRversion(), ", survey ", packageVersion("survey"), ", pROC ", packageVersion("pROC"))
lines <- sprintf('  "%s": %.17g', names(values), unlist(values))
writeLines(c("{", sprintf('  "made with": "%s",', versions), paste(lines, collapse = ",\n"), "}"), "r.json")
