"""Text against references: BLEU, chrF, NIST, ROUGE, METEOR, TER and perplexity."""

from fastmetrics.metrics.text import registered as registered
from fastmetrics.metrics.text.bleu import BleuScore, corpus_bleu, sentence_bleu
from fastmetrics.metrics.text.chrf import ChrfScore, corpus_chrf, sentence_chrf
from fastmetrics.metrics.text.files import TextFile, read_segments
from fastmetrics.metrics.text.meteor import MeteorScore, corpus_meteor, sentence_meteor
from fastmetrics.metrics.text.named_statistics import SegmentStatistics, segment_statistics
from fastmetrics.metrics.text.nist import NistScore, corpus_nist, sentence_nist
from fastmetrics.metrics.text.perplexities import perplexity, token_nll
from fastmetrics.metrics.text.rouge import RougeResult, RougeScore, rouge_score
from fastmetrics.metrics.text.ter import TerScore, corpus_ter, sentence_ter
from fastmetrics.metrics.text.text_comparison import SystemScore, TextComparison, compare_texts
from fastmetrics.metrics.text.tokenizers import tokenize

__all__ = [
    "BleuScore",
    "ChrfScore",
    "MeteorScore",
    "NistScore",
    "RougeResult",
    "RougeScore",
    "SegmentStatistics",
    "SystemScore",
    "TerScore",
    "TextComparison",
    "TextFile",
    "compare_texts",
    "corpus_bleu",
    "corpus_chrf",
    "corpus_meteor",
    "corpus_nist",
    "corpus_ter",
    "perplexity",
    "read_segments",
    "rouge_score",
    "segment_statistics",
    "sentence_bleu",
    "sentence_chrf",
    "sentence_meteor",
    "sentence_nist",
    "sentence_ter",
    "token_nll",
    "tokenize",
]
