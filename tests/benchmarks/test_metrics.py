from statistics import fmean

import pytest

from benchmarks.scoring.answer_f1 import f1, normalized, official_f1
from benchmarks.scoring.bootstrap import cluster_bootstrap, statistic_bootstrap
from benchmarks.scoring.longmemeval_retrieval import scores, session_scores
from benchmarks.scoring.retrieval_metrics import first_two_ndcg, found_all, hit, ndcg, recall
from evimem.calibration import auroc

RANKED = ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(("gold", "k", "expected"), [("a", 1, 1), ("bd", 2, 0.5), ("bd", 4, 1), ("xy", 5, 0)])
def test_recall_is_the_share_of_gold_among_the_first_k(gold, k, expected):
    assert recall(RANKED, gold, k) == expected


def test_a_hit_needs_one_gold_turn_and_all_needs_each():
    assert (hit(RANKED, "bx", 2), found_all(RANKED, "bx", 2)) == (1, 0)
    assert (hit(RANKED, "ba", 2), found_all(RANKED, "ba", 2)) == (1, 1)
    assert (hit(RANKED, "c", 2), found_all(RANKED, "c", 2)) == (0, 0)


def test_ndcg_discounts_by_rank_against_the_best_ranking():
    assert ndcg(RANKED, "ab", 5) == 1
    assert ndcg(RANKED, "b", 5) == pytest.approx(0.6309, abs=1e-4)  # 1 / log2(3)
    assert ndcg(RANKED, "ac", 5) == pytest.approx((1 + 0.5) / (1 + 0.6309), abs=1e-4)
    assert ndcg(RANKED, "abcdefgh", 2) == 1


@pytest.mark.parametrize(("gold", "k"), [("ab", 5), ("b", 5), ("ac", 3), ("e", 5), ("ce", 5), ("x", 5)])
def test_ndcg_with_the_first_two_ranks_alike_is_that_of_longmemeval(gold, k):
    ids = [*RANKED, "x"]
    assert first_two_ndcg(RANKED, gold, k) == pytest.approx(scores(range(5), set(gold), ids, k).ndcg)
    assert first_two_ndcg(RANKED, "b", 5) == 1


IDS = ["s1", "answer_a", "s2", "answer_b", "s3"]


@pytest.mark.parametrize(
    ("ranking", "k", "expected"),
    [
        ([1, 3, 0, 2, 4], 1, (1, 0, 1)), ([1, 3, 0, 2, 4], 3, (1, 1, 1)), ([0, 1, 3, 2, 4], 1, (0, 0, 0)),
        ([0, 1, 3, 2, 4], 3, (1, 1, 0.8155)), ([0, 2, 1, 3, 4], 3, (1, 0, 0.3155)),
        ([0, 2, 1, 3, 4], 5, (1, 1, 0.5655)), ([0, 2, 4, 1, 3], 3, (0, 0, 0)), ([0, 2, 4, 1, 3], 5, (1, 1, 0.4653)),
    ],
)  # fmt: skip
def test_longmemeval_scores_agree_with_its_own_code(ranking, k, expected):
    got = scores(ranking, {"answer_a", "answer_b"}, IDS, k)
    assert (got.any, got.all, got.ndcg) == pytest.approx(expected, abs=1e-4)


def test_longmemeval_scores_a_case_without_gold_as_its_code_does():
    got = scores([0, 1, 2, 3, 4], set(), IDS, 5)
    assert (got.any, got.all, got.ndcg) == (0, 1, 0)


@pytest.mark.parametrize(("k", "expected"), [(1, (0, 0, 0)), (2, (1, 0, 0.5)), (3, (1, 1, 0.8155))])
def test_longmemeval_session_scores_agree_with_its_own_code(k, expected):
    ids = ["answer_a_1", "noans_a_3", "s1_1", "answer_b_1", "s2_1"]
    got = session_scores([1, 0, 3, 2, 4], {"answer_a_1", "answer_b_1"}, ids, k)
    assert (got.any, got.all, got.ndcg) == pytest.approx(expected, abs=1e-4)


def test_words_are_compared_as_stems_without_articles_and_punctuation():
    assert normalized("The puppies, and a 7-May walk!") == ["puppi", "7mai", "walk"]


@pytest.mark.parametrize(
    ("answer", "gold", "expected"),
    [
        ("a puppy", "The Puppies!", 1), ("brown puppy", "puppy", 2 / 3), ("puppy puppy", "puppy", 2 / 3),
        ("kitten", "puppy", 0), ("the", "a", 0),
    ],
)  # fmt: skip
def test_f1_is_over_bags_of_words(answer, gold, expected):
    assert f1(answer, gold) == pytest.approx(expected)


def test_a_multi_hop_answer_is_a_list_whose_surplus_costs_nothing():
    gold = "tea, plum jam"
    assert official_f1("milk, tea, rum, jam, plum jam", gold, 1) == 1
    assert official_f1("tea", gold, 1) == 0.5
    assert official_f1("tea plum jam", gold, 1) == pytest.approx((0.5 + 0.8) / 2)
    assert official_f1("11 July 2023", "July 11, 2023", 1) == pytest.approx((0.8 + 0.5) / 2)


def test_an_open_domain_gold_ends_at_the_first_semicolon():
    assert official_f1("likely yes", "Likely yes; since she said so", 3) == 1
    assert official_f1("likely yes", "Likely yes; since she said so", 4) < 1


def test_abstaining_is_right_exactly_on_adversarial_questions():
    assert [official_f1(None, None, 5), official_f1("rust", None, 5), official_f1(None, "tea", 4)] == [1, 0, 0]


def test_what_is_no_mean_is_drawn_by_conversations_too():
    pairs = [[(0.9, True), (0.8, False)], [(0.7, True), (0.1, False)], [(0.6, False), (0.2, True)], []]

    def area(items: list[tuple[float, bool]]) -> float | None:
        told = [label for _, label in items]
        return auroc([p for p, _ in items], told) if len(set(told)) > 1 else None

    found = statistic_bootstrap(pairs, area)
    assert (found.low, found.high) == (0.0, 1.0)
    assert statistic_bootstrap([[(0.9, True)], [(0.1, True)]], area) is None
    spread = statistic_bootstrap([[0.0] * 20, [1.0] * 20, [0.0] * 20, [1.0] * 20], fmean)
    assert spread == cluster_bootstrap([[0.0] * 20, [1.0] * 20, [0.0] * 20, [1.0] * 20])
