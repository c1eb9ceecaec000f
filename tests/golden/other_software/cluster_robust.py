"""Cluster-robust errors of means by statsmodels: regressions on a constant."""

import json

import numpy as np
import pandas as pd
import statsmodels
import statsmodels.api as sm


def main() -> None:
    log = pd.read_csv("clustered_log.csv")
    chance = np.where(log["click"] == 1, log["new"], 1 - log["new"])
    columns = {"ctr": log["click"], "logloss": -np.log(chance), "brier": (log["new"] - log["click"]) ** 2}
    found: dict[str, float | str] = {"made with": f"statsmodels {statsmodels.__version__}"}
    for unit in ("user", "day"):
        for metric, values in columns.items():
            for name, weights in (("plain", np.ones(len(log))), ("weighted", log["weight"])):
                model = sm.WLS(values, np.ones(len(log)), weights=weights)
                fit = model.fit(cov_type="cluster", cov_kwds={"groups": log[unit]})
                found[f"{metric} {unit} {name} cluster"] = float(np.asarray(fit.bse)[0])
    with open("statsmodels.json", "w") as file:
        json.dump(found, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main()
