"""Published results: textbooks, papers and manuals."""

import math

import fastmetrics as fm

# C. Darwin's maize, crossed less self-fertilised, in eighths of an inch: R. A. Fisher, The Design of Experiments, 1935.
MAIZE = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]


def near(found, published, digits):
    return math.isclose(found, published, abs_tol=0.51 * 10**-digits)


def test_fishers_maize():
    """Fisher counts 863 of the 32,768 sums on either side."""
    assert fm.sign_flip_test(MAIZE, replicates=2**15).pvalue == 2 * 863 / 32768
    result = fm.paired_t_test(MAIZE)
    assert near(result.statistic, 2.148, 3)
    assert near(result.pvalue, 0.0497, 4)
    assert fm.wilcoxon(MAIZE).statistic == 24


def test_party_and_gender():
    """A. Agresti, Introduction to Categorical Data Analysis, 2007; the example of R's chisq.test."""
    result = fm.chi2_test([[762, 327, 468], [484, 239, 477]])
    assert near(result.statistic, 30.07, 2)
    assert result.df == 2
    assert near(result.pvalue, 2.954e-07, 10)


def test_mendels_peas():
    result = fm.chi2_test([315, 101, 108, 32], [312.75, 104.25, 104.25, 34.75])
    assert near(result.statistic, 0.470, 3)
    assert near(result.pvalue, 0.9254, 4)


def test_aspirin():
    """Physicians' Health Study, in Agresti's Categorical Data Analysis: heart attacks of 11,034 and 11,037."""
    result = fm.two_proportion_test(189, 11034, 104, 11037, ci_method="wald")
    assert near(result.statistic, 5.001, 3)
    assert [round(end, 3) for end in result.interval] == [0.005, 0.011]
    assert [round(end + 1, 2) for end in result.estimate("lift").interval] == [1.43, 2.31]
    assert near(fm.chi2_test([[189, 10845], [104, 10933]]).statistic, 24.429, 3)


def test_newcombes_table():
    """R. Newcombe, Statistics in Medicine 17, 1998, table II, method 10."""
    for counts, ends in (
        ((56, 70, 48, 80), [0.0524, 0.3339]),
        ((9, 10, 3, 10), [0.1705, 0.8090]),
        ((6, 7, 2, 7), [0.0582, 0.8062]),
        ((5, 56, 0, 29), [-0.0381, 0.1926]),
        ((0, 10, 0, 20), [-0.1611, 0.2775]),
        ((10, 10, 0, 20), [0.6791, 1.0]),
    ):
        assert [round(end, 4) for end in fm.two_proportion_test(*counts).interval] == ends


def test_approval_of_the_president():
    """Agresti, 1990, p. 350; the example of R's mcnemar.test."""
    result = fm.mcnemar_test([[794, 86], [150, 570]], method="chi2")
    assert near(result.statistic, 16.818, 3)
    assert near(result.pvalue, 4.115e-05, 8)


def test_sleep():
    """Student's soporific drugs; the example of R's t.test."""
    one = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    result = fm.paired_t_test(one, [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])
    assert near(result.statistic, -4.0621, 4)
    assert near(result.pvalue, 0.002833, 6)
    assert [round(end, 7) for end in result.interval] == [-2.4598858, -0.7001142]


def test_false_discoveries():
    """Y. Benjamini, Y. Hochberg, 1995, section 3.2: four of fifteen are significant, three with Holm."""
    pvalues = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.324, 0.4262, 0.5719, 0.6528]
    pvalues += [0.759, 1.0]
    assert (fm.benjamini_hochberg(pvalues) <= 0.05).sum() == 4
    assert (fm.holm(pvalues) <= 0.05).sum() == 3
