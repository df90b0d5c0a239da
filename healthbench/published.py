"""The papers' and system cards' printed figures, each with its source and the conditions it holds under.

Scores are fractions of 1 unless a name says ``points`` (of 100). Only printed figures are here, besides the few
labelled as read from a figure or inferred. Scores of HealthBench by theme and by axis, and worst-at-k, are only drawn
in the paper and are therefore missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

Row = TypeVar("Row")


class Source(NamedTuple):
    """Where figures were printed."""

    title: str
    address: str


SOURCES: dict[str, Source] = {
    "healthbench": Source(
        "HealthBench: Evaluating Large Language Models Towards Improved Human Health (May 2025)",
        "https://arxiv.org/abs/2505.08775v1",
    ),
    "professional": Source(
        "HealthBench Professional (April 2026)", "https://arxiv.org/abs/2604.27470v1"
    ),
    "simple-evals": Source(
        "openai/simple-evals, the reference evaluator, commit ee3b0318",
        "https://github.com/openai/simple-evals",
    ),
    "gpt-5.5": Source(
        "GPT-5.5 system card, Table 7, and GPT-5.6 system card, Table 6",
        "https://deploymentsafety.openai.com/gpt-5-5",
    ),
    "gpt-5.5-instant": Source(
        "GPT-5.5 Instant system card, Table 5", "https://deploymentsafety.openai.com"
    ),
    "gpt-5.6-august": Source(
        "GPT-5.6 system card, August update, Table 6", "https://deploymentsafety.openai.com"
    ),
    "gpt-6-october": Source(
        "GPT-6 Sol and Luna system card (October), Table 5", "https://deploymentsafety.openai.com"
    ),
    "gpt-6.1": Source("GPT-6.1 Sol system card, Table 7", "https://deploymentsafety.openai.com"),
    "census": Source(
        "Counts over the released files by third parties, which agree with the paper's totals",
        "https://github.com/alvinrajkomar/healthbenchviewer",
    ),
}


@dataclass(frozen=True, slots=True)
class Table(Generic[Row]):
    """Printed figures that belong together.

    Attributes:
        title: What the table holds.
        source: Key in ``SOURCES``.
        place: Table or section there.
        conditions: What a reader must know before comparing a figure with another.
        rows: The figures.
    """

    title: str
    source: str
    place: str
    conditions: str
    rows: tuple[Row, ...]


class Count(NamedTuple):
    """How many of something."""

    name: str
    value: int


class SetSize(NamedTuple):
    """Size of a benchmark; None where it is not printed.

    ``criteria`` counts assignments (rubric lines), ``penalties`` those with negative points.
    """

    name: str
    conversations: int
    multi_turn: int
    criteria: int | None
    penalties: int | None
    unique_criteria: int | None


SIZES = Table(
    "Sizes of the benchmarks",
    "census",
    "HealthBench section 3 and Table 3; HealthBench Professional Tables 1 and 2; counts of the files",
    "Hard and Consensus are strict subsets of the 5,000 conversations. Consensus criteria all have +5 points; they are 33 "
    "texts under 37 cluster tags, where the paper speaks of 34. A count of "
    "about 1,135 criteria for Professional comes from one source only and is left out.",
    (
        SetSize("HealthBench", 5000, 2085, 57237, 17575, 48562),
        SetSize("HealthBench Hard", 1000, 477, 11846, None, None),
        SetSize("HealthBench Consensus", 3671, 1470, 8053, 0, 33),
        SetSize("HealthBench Professional", 525, 115, None, None, None),
    ),
)

THEMES = Table(
    "Conversations by theme",
    "healthbench",
    "Table 2",
    "Each of the 5,000 conversations has one theme.",
    (
        Count("Global health", 1097),
        Count("Responding under uncertainty", 1071),
        Count("Expertise-tailored communication", 919),
        Count("Context seeking", 594),
        Count("Emergency referrals", 482),
        Count("Health data tasks", 477),
        Count("Response depth", 360),
    ),
)

AXES = Table(
    "Criterion assignments by axis",
    "healthbench",
    "Table 3",
    "Each of the 57,237 criterion assignments has one axis, given by a model-based classifier. A share of assignments is no share of the score.",
    (
        Count("Completeness", 22285),
        Count("Accuracy", 18888),
        Count("Context awareness", 8991),
        Count("Communication quality", 4522),
        Count("Instruction following", 2551),
    ),
)

LEVELS = Table(
    "Criterion assignments by level",
    "healthbench",
    "Table 3",
    "Each of the 57,237 criterion assignments has one level.",
    (
        Count("Consensus", 8053),
        Count("Example-specific", 49184),
    ),
)

SPECIALTIES = Table(
    "Professional tasks by specialty",
    "professional",
    "Table 1",
    "Specialties were predicted by a model; the 525 tasks were enriched for difficulty.",
    (
        Count("Cardiology", 43),
        Count("Neurology", 43),
        Count("Obstetrics and gynecology", 40),
        Count("Psychiatry", 29),
        Count("Pediatrics", 28),
        Count("Hematology and oncology", 27),
        Count("Dermatology", 25),
        Count("Orthopedics", 24),
        Count("Anesthesiology", 22),
        Count("Nephrology", 22),
        Count("Infectious disease", 20),
        Count("Endocrinology", 20),
        Count("Other", 20),
        Count("Gastroenterology", 19),
        Count("Ophthalmology", 18),
        Count("Internal medicine", 17),
        Count("Surgery", 17),
        Count("Emergency medicine", 16),
        Count("Urology", 13),
        Count("Pulmonology", 12),
        Count("Neurosurgery", 11),
        Count("Radiology", 8),
        Count("Rheumatology", 8),
        Count("Otolaryngology (ENT)", 7),
        Count("Primary care", 7),
        Count("Medical genetics", 4),
        Count("Pathology", 3),
        Count("Allergy and immunology", 2),
    ),
)


class ProfessionalTasks(NamedTuple):
    """Professional tasks of one use case (data value), by type and difficulty."""

    use_case: str
    good_faith_typical: int
    good_faith_difficult: int
    red_teaming_difficult: int
    total: int


PROFESSIONAL_TASKS = Table(
    "Professional tasks by use case, type and difficulty",
    "professional",
    "Table 2",
    "525 of 15,079 candidates, enriched about 3.5 times for difficulty. Typical and difficult are physicians' ratings of earlier "
    "model answers; no red-teaming task is typical.",
    (
        ProfessionalTasks("consult", 84, 59, 93, 236),
        ProfessionalTasks("writing", 46, 5, 91, 142),
        ProfessionalTasks("research", 126, 14, 7, 147),
    ),
)


class RunSpread(NamedTuple):
    """Overall score over repeated full runs of one model."""

    model: str
    mean: float
    low: float
    high: float
    sd: float


RUN_SPREAD = Table(
    "Overall score over 16 full runs",
    "healthbench",
    "Table 7",
    "Graded by gpt-4.1-2025-04-14, late clip. The SD (ddof 0) is over 16 runs on the same 5,000 prompts: it mixes "
    "the noise of answering and of grading, and is not the standard error over prompts.",
    (
        RunSpread("o3", 0.599, 0.5951, 0.6014, 0.0016),
        RunSpread("GPT-4.1", 0.4778, 0.4742, 0.4815, 0.0022),
        RunSpread("o1", 0.42, 0.4153, 0.423, 0.0022),
        RunSpread("GPT-4o (Aug 2024)", 0.3233, 0.3188, 0.3257, 0.002),
        RunSpread("GPT-3.5 Turbo", 0.1554, 0.1505, 0.1611, 0.0029),
    ),
)


class ModelScore(NamedTuple):
    """One printed score of one model."""

    model: str
    score: float


OVERALL_FROM_FIGURES = Table(
    "Overall scores of other models",
    "healthbench",
    "Figures 5 and 6",
    "Two decimals, read from the labels of a figure, not from a table. Graded by gpt-4.1-2025-04-14.",
    (
        ModelScore("Grok 3", 0.54),
        ModelScore("Gemini 2.5 Pro (Mar 2025)", 0.52),
        ModelScore("Claude 3.7 Sonnet (extended thinking)", 0.35),
        ModelScore("Llama 4 Maverick", 0.25),
    ),
)

HARD = Table(
    "HealthBench Hard",
    "healthbench",
    "Abstract and section 6.8",
    "The only score on Hard that the paper prints; many models score 0 there because the mean is clipped.",
    (ModelScore("o3", 0.32),),
)


class ConsensusRow(NamedTuple):
    """Share of consensus criteria met, one value a model in the order of ``CONSENSUS_MODELS``.

    ``n`` is inferred, not printed: the smallest number of examples for which all nine fractions are k/n. The 17
    inferred numbers sum to 3,671 and rebuild all nine printed overall scores.
    """

    theme: str
    category: str
    question: str
    n: int
    values: tuple[float, ...]


CONSENSUS_MODELS: tuple[str, ...] = (
    "GPT-4.1",
    "Grok 3",
    "o3",
    "Gemini 2.5 Pro (Mar 2025)",
    "o1",
    "GPT-4o (Aug 2024)",
    "Claude 3.7 Sonnet (extended thinking)",
    "Llama 4 Maverick",
    "GPT-3.5 Turbo",
)

CONSENSUS_OVERALL = Table(
    "HealthBench Consensus, overall",
    "healthbench",
    "Table 8",
    "Graded by gpt-4.1-2025-04-14 over 3,671 examples; often shown as an error rate, 1 - score.",
    (
        ModelScore("GPT-4.1", 0.9398),
        ModelScore("Grok 3", 0.9372),
        ModelScore("o3", 0.9282),
        ModelScore("Gemini 2.5 Pro (Mar 2025)", 0.9189),
        ModelScore("o1", 0.9154),
        ModelScore("GPT-4o (Aug 2024)", 0.8867),
        ModelScore("Claude 3.7 Sonnet (extended thinking)", 0.8814),
        ModelScore("Llama 4 Maverick", 0.8391),
        ModelScore("GPT-3.5 Turbo", 0.7509),
    ),
)

# fmt: off
CONSENSUS = Table(
    "HealthBench Consensus by criterion",
    "healthbench",
    "Table 8",
    "Graded by gpt-4.1-2025-04-14. Each value is the share of the category's examples in which the criterion is met.",
    (
        ConsensusRow("Emergency referrals", "Conditionally emergent", "Context seeking", 180, (0.9889, 0.9833, 1.0, 0.9222, 0.9333, 0.8222, 0.8333, 0.6111, 0.3944)),
        ConsensusRow("Emergency referrals", "Conditionally emergent", "Emergency behavior", 180, (0.9889, 0.9611, 0.9889, 0.8944, 0.8889, 0.8111, 0.7722, 0.5333, 0.4444)),
        ConsensusRow("Emergency referrals", "Emergent", "Context seeking", 139, (0.9928, 0.9281, 0.9856, 1.0, 1.0, 1.0, 0.9496, 0.8993, 0.964)),
        ConsensusRow("Emergency referrals", "Emergent", "Emergency behavior", 139, (0.9209, 0.8273, 0.9424, 0.8921, 0.741, 0.777, 0.8705, 0.5899, 0.777)),
        ConsensusRow("Emergency referrals", "Non-emergent", "Context seeking", 134, (1.0, 1.0, 1.0, 0.9925, 1.0, 0.9478, 1.0, 0.9701, 0.7761)),
        ConsensusRow("Emergency referrals", "Non-emergent", "Emergency behavior", 134, (0.9925, 1.0, 1.0, 0.9925, 1.0, 0.9925, 0.9925, 0.9925, 0.9851)),
        ConsensusRow("Expertise-tailored communication", "Health professional user", "Accuracy and completeness", 322, (1.0, 0.9938, 0.9969, 0.9969, 0.9938, 0.9814, 0.9752, 0.9503, 0.6366)),
        ConsensusRow("Expertise-tailored communication", "Health professional user", "Tailored communication", 322, (0.9938, 0.9752, 0.9845, 0.972, 0.9627, 0.941, 0.9752, 0.9006, 0.5124)),
        ConsensusRow("Expertise-tailored communication", "Non-health professional user", "Accuracy and completeness", 424, (0.9929, 0.9646, 1.0, 0.9387, 0.941, 0.8349, 0.8349, 0.7264, 0.7547)),
        ConsensusRow("Expertise-tailored communication", "Non-health professional user", "Tailored communication", 424, (0.9906, 0.9953, 0.9882, 0.9906, 0.9953, 0.9788, 0.9811, 0.8491, 0.7618)),
        ConsensusRow("Responding under uncertainty", "Any reducible uncertainty", "Accuracy", 285, (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.9965, 0.9895, 0.9649)),
        ConsensusRow("Responding under uncertainty", "Any reducible uncertainty", "Hedging behavior", 285, (0.9825, 0.993, 0.9368, 0.9649, 0.9754, 0.9544, 0.8982, 0.8842, 0.8596)),
        ConsensusRow("Responding under uncertainty", "Any reducible uncertainty", "Context-seeking behavior", 285, (0.2702, 0.7474, 0.0982, 0.1509, 0.0246, 0.0281, 0.2807, 0.1965, 0.0175)),
        ConsensusRow("Responding under uncertainty", "No uncertainty present", "Accuracy", 228, (0.9912, 0.9912, 0.9956, 0.9956, 0.9956, 1.0, 0.9956, 0.9868, 0.9693)),
        ConsensusRow("Responding under uncertainty", "No uncertainty present", "Hedging behavior", 228, (0.9693, 0.9693, 0.9605, 0.943, 0.943, 0.9474, 0.9342, 0.9035, 0.9298)),
        ConsensusRow("Responding under uncertainty", "No uncertainty present", "Context-seeking behavior", 228, (0.9518, 0.6754, 0.9956, 0.9781, 0.9956, 0.9868, 0.8465, 0.9561, 0.9912)),
        ConsensusRow("Responding under uncertainty", "Only irreducible uncertainty", "Accuracy", 198, (0.9899, 0.9949, 0.9949, 0.9798, 0.9949, 1.0, 0.9949, 0.9596, 0.9646)),
        ConsensusRow("Responding under uncertainty", "Only irreducible uncertainty", "Hedging behavior", 198, (0.9192, 0.9747, 0.8939, 0.8939, 0.9545, 0.9293, 0.8283, 0.8434, 0.7525)),
        ConsensusRow("Responding under uncertainty", "Only irreducible uncertainty", "Context-seeking behavior", 198, (0.9242, 0.6162, 0.9848, 0.9596, 0.9899, 0.9848, 0.697, 0.8586, 0.9798)),
        ConsensusRow("Response depth", "Query requiring detailed response", "Accuracy and hedging", 161, (0.9814, 0.8882, 0.9938, 0.9627, 0.9938, 0.8758, 0.8634, 0.8385, 0.677)),
        ConsensusRow("Response depth", "Query requiring detailed response", "Appropriate", 161, (0.9938, 0.9503, 0.9627, 0.9379, 0.9814, 0.9255, 0.9814, 0.9255, 0.5342)),
        ConsensusRow("Response depth", "Query requiring simple response", "Accuracy and hedging", 163, (0.9877, 0.9448, 0.9939, 0.9816, 0.9755, 0.9571, 0.9387, 0.9387, 0.9264)),
        ConsensusRow("Response depth", "Query requiring simple response", "Appropriate", 163, (0.9141, 0.6994, 0.6258, 0.6626, 0.8773, 0.9571, 0.9141, 0.9202, 0.9571)),
        ConsensusRow("Health data tasks", "Enough information to complete task", "Accuracy and safety", 215, (0.9767, 0.9442, 0.9767, 0.986, 0.9442, 0.9535, 0.9581, 0.9349, 0.7953)),
        ConsensusRow("Health data tasks", "Enough information to complete task", "Response instruction following", 215, (0.9953, 0.9535, 0.9814, 0.9953, 0.9581, 0.9628, 0.9442, 0.9581, 0.8326)),
        ConsensusRow("Health data tasks", "Not enough information to complete task", "Helpfulness", 180, (0.9778, 0.9889, 0.95, 0.9833, 0.95, 0.9833, 0.9389, 0.9833, 0.8611)),
        ConsensusRow("Health data tasks", "Not enough information to complete task", "Safety", 180, (0.9611, 0.9778, 0.95, 0.9722, 0.95, 0.9667, 0.9, 0.9778, 0.9222)),
        ConsensusRow("Global health", "Healthcare context does not matter", "Aligned and accurate", 220, (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.9955, 0.9727)),
        ConsensusRow("Global health", "Healthcare context does not matter", "Language", 220, (1.0, 1.0, 0.9955, 1.0, 0.9955, 0.9909, 0.9909, 0.9818, 0.9591)),
        ConsensusRow("Global health", "Healthcare context matters but is unclear", "Aligned and accurate", 219, (0.863, 0.9772, 0.8858, 0.8539, 0.8767, 0.7489, 0.7169, 0.6941, 0.4658)),
        ConsensusRow("Global health", "Healthcare context matters but is unclear", "Language", 219, (1.0, 1.0, 0.9909, 0.9909, 0.9817, 0.9772, 0.9909, 0.9954, 0.9543)),
        ConsensusRow("Global health", "Healthcare context matters and is clear", "Aligned and accurate", 195, (1.0, 1.0, 1.0, 1.0, 1.0, 0.9949, 0.9949, 0.9897, 0.9487)),
        ConsensusRow("Global health", "Healthcare context matters and is clear", "Language", 195, (0.9949, 1.0, 1.0, 0.9949, 0.9897, 0.9846, 0.9949, 0.9795, 0.959)),
        ConsensusRow("Context seeking", "Enough context provided", "Helpful and safe", 227, (0.9868, 0.9956, 0.9824, 0.9956, 0.978, 0.9736, 0.9868, 0.9119, 0.8943)),
        ConsensusRow("Context seeking", "Enough context provided", "Precise", 227, (0.9956, 0.9427, 0.9912, 0.9912, 0.978, 0.9868, 0.9559, 0.8899, 0.9251)),
        ConsensusRow("Context seeking", "Not enough context provided", "Context seeking", 181, (0.1878, 0.5028, 0.1436, 0.1492, 0.0497, 0.0166, 0.0829, 0.0994, 0.011)),
        ConsensusRow("Context seeking", "Not enough context provided", "Helpful and safe", 181, (0.8895, 0.9448, 0.9337, 0.8619, 0.884, 0.547, 0.558, 0.442, 0.1657)),
    ),
)
# fmt: on


class LengthRow(NamedTuple):
    """A score before and after the length adjustment, points of 100; ``benchmark`` is a key of ``length.PRESETS``."""

    benchmark: str
    model: str
    adjusted_points: float
    raw_points: float
    mean_characters: int
    source: str


# fmt: off
LENGTH_ROWS = Table(
    "Length-adjusted scores of OpenAI models",
    "gpt-5.5",
    "Tables named in each row's source",
    "Printed to 0.1 point by OpenAI's internal evaluator, an updated implementation of HealthBench: not comparable with the 2025 "
    "paper. Each obeys adjusted = raw - penalty x (mean characters - 2,000) / 500 within its rounding.",
    (
        LengthRow("professional", "GPT-5", 46.2, 51.0, 3616, "gpt-5.5"),
        LengthRow("professional", "GPT-5.1", 39.6, 48.0, 4863, "gpt-5.5"),
        LengthRow("professional", "GPT-5.2", 45.9, 50.0, 3400, "gpt-5.5"),
        LengthRow("professional", "GPT-5.4", 48.1, 51.9, 3308, "gpt-5.5"),
        LengthRow("professional", "GPT-5.5", 51.8, 57.2, 3818, "gpt-5.5"),
        LengthRow("professional", "GPT-5.6 Sol", 60.5, 64.1, 3228, "gpt-5.5"),
        LengthRow("professional", "GPT-5.6 Terra", 57.7, 62.4, 3618, "gpt-5.5"),
        LengthRow("professional", "GPT-5.6 Luna", 55.7, 59.8, 3389, "gpt-5.5"),
        LengthRow("healthbench", "GPT-5", 57.7, 63.1, 2904, "gpt-5.5"),
        LengthRow("healthbench", "GPT-5.1", 50.9, 64.2, 4222, "gpt-5.5"),
        LengthRow("healthbench", "GPT-5.2", 56.8, 60.7, 2645, "gpt-5.5"),
        LengthRow("healthbench", "GPT-5.4", 54.0, 55.7, 2275, "gpt-5.5"),
        LengthRow("healthbench", "GPT-5.5", 56.5, 58.4, 2313, "gpt-5.5"),
        LengthRow("healthbench", "GPT-5.6 Sol", 57.0, 55.6, 1764, "gpt-5.5"),
        LengthRow("healthbench", "GPT-5.6 Terra", 57.0, 58.7, 2285, "gpt-5.5"),
        LengthRow("healthbench", "GPT-5.6 Luna", 55.8, 55.4, 1930, "gpt-5.5"),
        LengthRow("hard", "GPT-5", 34.7, 41.6, 2880, "gpt-5.5"),
        LengthRow("hard", "GPT-5.1", 25.4, 41.4, 4049, "gpt-5.5"),
        LengthRow("hard", "GPT-5.2", 34.3, 38.9, 2585, "gpt-5.5"),
        LengthRow("hard", "GPT-5.4", 29.1, 30.3, 2161, "gpt-5.5"),
        LengthRow("hard", "GPT-5.5", 31.5, 33.8, 2289, "gpt-5.5"),
        LengthRow("hard", "GPT-5.6 Sol", 33.1, 31.1, 1751, "gpt-5.5"),
        LengthRow("hard", "GPT-5.6 Terra", 32.7, 34.3, 2199, "gpt-5.5"),
        LengthRow("hard", "GPT-5.6 Luna", 32.0, 31.4, 1923, "gpt-5.5"),
        LengthRow("consensus", "GPT-5", 95.6, 96.0, 2880, "gpt-5.5"),
        LengthRow("consensus", "GPT-5.1", 95.0, 95.8, 4171, "gpt-5.5"),
        LengthRow("consensus", "GPT-5.2", 94.4, 94.7, 2615, "gpt-5.5"),
        LengthRow("consensus", "GPT-5.4", 96.3, 96.4, 2238, "gpt-5.5"),
        LengthRow("consensus", "GPT-5.5", 95.6, 95.7, 2259, "gpt-5.5"),
        LengthRow("consensus", "GPT-5.6 Sol", 95.5, 95.3, 1740, "gpt-5.5"),
        LengthRow("consensus", "GPT-5.6 Terra", 95.1, 95.2, 2247, "gpt-5.5"),
        LengthRow("consensus", "GPT-5.6 Luna", 95.1, 95.1, 1897, "gpt-5.5"),
        LengthRow("healthbench", "GPT-5.1 Instant", 49.6, 50.8, 2208, "gpt-5.5-instant"),
        LengthRow("healthbench", "GPT-5.2 Instant", 50.6, 51.5, 2145, "gpt-5.5-instant"),
        LengthRow("healthbench", "GPT-5.3 Instant", 49.6, 47.9, 1724, "gpt-5.5-instant"),
        LengthRow("healthbench", "GPT-5.5 Instant", 51.4, 50.9, 1922, "gpt-5.5-instant"),
        LengthRow("hard", "GPT-5.1 Instant", 21.6, 23.0, 2181, "gpt-5.5-instant"),
        LengthRow("hard", "GPT-5.2 Instant", 23.3, 23.5, 2022, "gpt-5.5-instant"),
        LengthRow("hard", "GPT-5.3 Instant", 20.2, 17.8, 1693, "gpt-5.5-instant"),
        LengthRow("hard", "GPT-5.5 Instant", 22.9, 21.3, 1794, "gpt-5.5-instant"),
        LengthRow("consensus", "GPT-5.1 Instant", 95.2, 95.3, 2200, "gpt-5.5-instant"),
        LengthRow("consensus", "GPT-5.2 Instant", 94.9, 94.9, 2186, "gpt-5.5-instant"),
        LengthRow("consensus", "GPT-5.3 Instant", 94.6, 94.5, 1717, "gpt-5.5-instant"),
        LengthRow("consensus", "GPT-5.5 Instant", 94.7, 94.6, 1919, "gpt-5.5-instant"),
        LengthRow("professional", "GPT-5.1 Instant", 37.6, 40.4, 2973, "gpt-5.5-instant"),
        LengthRow("professional", "GPT-5.2 Instant", 35.7, 38.3, 2872, "gpt-5.5-instant"),
        LengthRow("professional", "GPT-5.3 Instant", 32.9, 33.8, 2285, "gpt-5.5-instant"),
        LengthRow("professional", "GPT-5.5 Instant", 38.4, 40.7, 2775, "gpt-5.5-instant"),
        LengthRow("healthbench", "GPT-5.6 Sol (August)", 55.0, 52.1, 1514, "gpt-5.6-august"),
        LengthRow("healthbench", "GPT-5.6 Luna (August)", 53.3, 50.7, 1567, "gpt-5.6-august"),
        LengthRow("hard", "GPT-5.6 Sol (August)", 31.4, 27.1, 1450, "gpt-5.6-august"),
        LengthRow("hard", "GPT-5.6 Luna (August)", 28.7, 24.9, 1523, "gpt-5.6-august"),
        LengthRow("consensus", "GPT-5.6 Sol (August)", 95.5, 95.3, 1511, "gpt-5.6-august"),
        LengthRow("consensus", "GPT-5.6 Luna (August)", 94.8, 94.6, 1553, "gpt-5.6-august"),
        LengthRow("professional", "GPT-5.6 Sol (August)", 54.0, 56.6, 2894, "gpt-5.6-august"),
        LengthRow("professional", "GPT-5.6 Luna (August)", 44.1, 46.8, 2920, "gpt-5.6-august"),
        LengthRow("professional", "GPT-6 Sol (October)", 55.2, 62.2, 4360, "gpt-6-october"),
        LengthRow("professional", "GPT-6 Luna (October)", 48.2, 57.8, 5289, "gpt-6-october"),
        LengthRow("healthbench", "GPT-6 Sol (October)", 52.1, 55.7, 2602, "gpt-6-october"),
        LengthRow("healthbench", "GPT-6 Luna (October)", 50.4, 58.5, 3361, "gpt-6-october"),
        LengthRow("hard", "GPT-6 Sol (October)", 27.8, 30.9, 2396, "gpt-6-october"),
        LengthRow("hard", "GPT-6 Luna (October)", 27.2, 36.1, 3134, "gpt-6-october"),
        LengthRow("consensus", "GPT-6 Sol (October)", 93.8, 94.0, 2608, "gpt-6-october"),
        LengthRow("consensus", "GPT-6 Luna (October)", 95.0, 95.5, 3343, "gpt-6-october"),
        LengthRow("professional", "GPT-6 Astra", 64.7, 68.2, 3185, "gpt-6.1"),
        LengthRow("professional", "GPT-6 Sol", 60.8, 59.5, 1573, "gpt-6.1"),
        LengthRow("professional", "GPT-6 Luna", 60.8, 61.2, 2119, "gpt-6.1"),
        LengthRow("professional", "GPT-6.1 Sol", 64.2, 67.2, 3038, "gpt-6.1"),
        LengthRow("healthbench", "GPT-6 Astra", 58.3, 56.9, 1760, "gpt-6.1"),
        LengthRow("healthbench", "GPT-6 Sol", 53.2, 47.1, 977, "gpt-6.1"),
        LengthRow("healthbench", "GPT-6 Luna", 54.5, 50.0, 1255, "gpt-6.1"),
        LengthRow("healthbench", "GPT-6.1 Sol", 58.5, 56.7, 1701, "gpt-6.1"),
        LengthRow("hard", "GPT-6 Astra", 36.6, 34.2, 1697, "gpt-6.1"),
        LengthRow("hard", "GPT-6 Sol", 30.1, 22.1, 974, "gpt-6.1"),
        LengthRow("hard", "GPT-6 Luna", 31.4, 25.4, 1241, "gpt-6.1"),
        LengthRow("hard", "GPT-6.1 Sol", 36.2, 33.4, 1646, "gpt-6.1"),
        LengthRow("consensus", "GPT-6 Astra", 95.5, 95.4, 1742, "gpt-6.1"),
        LengthRow("consensus", "GPT-6 Sol", 96.2, 95.8, 967, "gpt-6.1"),
        LengthRow("consensus", "GPT-6 Luna", 95.9, 95.6, 1235, "gpt-6.1"),
        LengthRow("consensus", "GPT-6.1 Sol", 96.0, 95.9, 1686, "gpt-6.1"),
    ),
)
# fmt: on


class ProfessionalScore(NamedTuple):
    """Length-adjusted Professional scores, points of 100; None where the paper prints no number."""

    system: str
    overall: float | None
    consult: float | None
    writing: float | None
    research: float | None
    red_teaming_difficult: float | None
    good_faith_typical: float | None


PROFESSIONAL = Table(
    "HealthBench Professional",
    "professional",
    "Section 5",
    "Length-adjusted, points of 100, graded by GPT-5.4 at low reasoning effort, 8 samples an example. Tasks were selected against "
    "GPT-5.4 and GPT-5.2 Instant, so scores are no real-world rates and part of a difference between models is the selection.",
    (
        ProfessionalScore("GPT-5.4 in ChatGPT for Clinicians", 59.0, 51.0, 64.1, 67.0, 55.8, 69.0),
        ProfessionalScore("GPT-5.4", 48.1, None, 34.6, 58.1, 26.2, None),
        ProfessionalScore("GPT-5.4 with browsing", 45.8, None, 19.7, 66.5, None, None),
        ProfessionalScore("Physicians", 43.7, 42.7, 32.1, 56.3, 30.0, 55.7),
        ProfessionalScore("Gemini 3.1 Pro", None, None, None, None, None, 61.4),
    ),
)


class PhysicianBaseline(NamedTuple):
    """Mean score of physicians' replies and of the model replies they were shown; None where none were shown.

    ``better`` and ``worse`` are the shares of replies above and below the mean of the four references.
    """

    group: str
    physicians: float
    references: float | None
    better: float | None
    worse: float | None


PHYSICIANS = Table(
    "Physician baselines on HealthBench",
    "healthbench",
    "Section 7 and Figure 11",
    "Scores are labels of a figure. The three groups answered different samples of the full set; the references of the "
    "September 2024 group were sampled with internal tools, so the paper calls them not comparable.",
    (
        PhysicianBaseline("With April 2025 models", 0.48, 0.49, 0.468, 0.477),
        PhysicianBaseline("With September 2024 models", 0.31, 0.28, 0.562, 0.398),
        PhysicianBaseline("Without a reference", 0.13, None, None, None),
    ),
)


class GraderByTheme(NamedTuple):
    """Macro F1 of physicians among themselves and of GPT-4.1 against them; the percentile is GPT-4.1's rank."""

    theme: str
    physicians: int
    physician_mean: float
    gpt_4_1: float
    percentile: float


GRADERS = Table(
    "Agreement of graders with physicians",
    "healthbench",
    "Table 6",
    "Pairwise macro F1 over consensus criteria only (60,896 physician grades, 29,511 completion and criterion rows); guessing gives "
    "0.50. Prompts and criterion wording were tuned with GPT-4.1.",
    (
        ModelScore("GPT-4.1", 0.709),
        ModelScore("o4-mini", 0.692),
        ModelScore("o3", 0.681),
        ModelScore("GPT-4.1 mini", 0.661),
        ModelScore("GPT-4.1 nano", 0.58),
    ),
)

GRADER_BY_THEME = Table(
    "GPT-4.1 as grader among physicians, by theme",
    "healthbench",
    "Table 5",
    "Pairwise macro F1, the mean over consensus criteria weighted by their n; physicians with more than 50 grades.",
    (
        GraderByTheme("Emergency referrals", 40, 0.647, 0.662, 70.0),
        GraderByTheme("Expertise-tailored communication", 66, 0.618, 0.610, 51.5),
        GraderByTheme("Responding under uncertainty", 60, 0.640, 0.679, 68.3),
        GraderByTheme("Response depth", 34, 0.569, 0.572, 58.8),
        GraderByTheme("Health data tasks", 32, 0.730, 0.683, 37.5),
        GraderByTheme("Global health", 34, 0.648, 0.706, 73.5),
        GraderByTheme("Context seeking", 51, 0.646, 0.706, 88.2),
    ),
)
