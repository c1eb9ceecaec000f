"""The ends of a calibration error's interval, term by term.

S. Nabeya, "Absolute moments in 2-dimensional normal distribution", Annals of the Institute of Statistical Mathematics
3, 1951, for the covariance of two half-normal variables.
"""

import math


def ends(bin_errors, covariance, t):
    """Both ends, cut at 0 and 1; bins without variance are no bins."""
    bins = [k for k in range(len(bin_errors)) if covariance[k][k] > 0]
    sd = {k: math.sqrt(covariance[k][k]) for k in bins}
    sign = {k: -1 if bin_errors[k] < 0 else 1 for k in bins}
    clear = {k for k in bins if abs(bin_errors[k]) > math.sqrt(2 * math.log(2 * len(bins))) * sd[k]}
    upper, lower = 0.0, 0.0
    for j in bins:
        for k in bins:
            signed = sign[j] * sign[k] * covariance[j][k]
            if j in clear and k in clear:
                upper += signed
                lower += signed
            elif j in clear or k in clear:
                upper += signed
            else:
                upper += abs(signed)
                r = max(-1.0, min(1.0, covariance[j][k] / (sd[j] * sd[k])))
                lower += 2 / math.pi * (r * math.asin(r) + math.sqrt(1 - r * r) - 1) * sd[j] * sd[k]
    total = sum(map(abs, bin_errors))
    noise = math.sqrt(2 / math.pi) * sum(sd[k] for k in bins if k not in clear)
    return max(total - noise - t * math.sqrt(max(lower, 0.0)), 0.0), min(total + t * math.sqrt(upper), 1.0)
