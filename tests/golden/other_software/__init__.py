"""Standard errors that other software found for one small log, and the programs that made them.

    python write_log.py                      clustered_log.csv
    Rscript survey_and_proc.R                r.json (Debian: r-cran-survey, r-cran-proc)
    python cluster_robust.py                 statsmodels.json (statsmodels from the package index)

are run in this folder, in this order. The tests read the files alone.
"""
