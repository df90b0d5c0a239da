"""What every number means, how it is computed, and what it does not say."""

from __future__ import annotations

import streamlit as st
from components import published_tables, worked
from components.frame import notice
from components.method_parts import criticism, pipeline
from components.rules import in_words
from components.text import escaped

from healthbench.charts.theme import STATE_MARKS
from healthbench.formatting import equation, points
from healthbench.scoring.aggregate import RULES
from healthbench.scoring.example import State

TEXT_WIDTH = 760

_STATES = {
    State.EARNED: "positive points, met: the points are added",
    State.MISSED: "positive points, not met: nothing is added",
    State.INCURRED: "negative points, met: the points are subtracted",
    State.AVOIDED: "negative points, not met: nothing is subtracted",
    State.UNKNOWN: "no verdict was given, it cannot be read, or the grading failed",
}

st.title("Method")
st.header("From a conversation to a score", anchor="pipeline")
pipeline()
case = worked.case()
with st.container(width=TEXT_WIDTH):
    st.header("The score of an example", anchor="example-score")
    st.markdown(
        "An example is one conversation, one reply to it, and a rubric written for it. Each criterion of the rubric "
        "has signed points: positive for what the reply should do, negative for what it should not. A grader says for "
        "each criterion whether the reply meets it. The score is the signed points of the met criteria over the sum "
        "of the positive points:"
    )
    st.markdown(f"> {escaped(equation([7, 10, -6], 22, 0.5))}")
    st.markdown(
        "It is never above 1, and it is below 0 where penalties outweigh what was earned. A rubric without positive "
        "points gives no score, which is not the same as 0."
    )
    st.markdown("A criterion is in one of these states:")
    st.table(
        {f"{STATE_MARKS[name].symbol} {name}": meaning for name, meaning in _STATES.items()},
        border="horizontal",
    )
    worked.show(case, worked.example_score)

    st.header("The score of a run", anchor="run-score")
    st.markdown(
        "The mean of the example scores, clipped once, at the end, to 0-1 and shown as points of 100. Each row of the "
        "run weighs the same; several replies to one prompt are several rows. Clipping each example first gives a "
        "higher figure whenever an example is below 0; some tools print that one. The clip can hide how far below 0 "
        "a run is, so the unclipped mean stands beside it."
    )
    st.markdown(
        "The score is a share of rubric points, not of right answers: 64.8 does not mean that 64.8 % of the replies "
        "are correct or safe. A reply can miss what matters most and still earn most points; read the penalties."
    )
    worked.show(case, worked.run_score)

    st.header("Themes, axes, levels, clusters", anchor="tags")
    st.markdown(
        "A theme (and a physician category) belongs to a conversation: its score is the mean of the scores of its "
        "examples. An axis, a level and a consensus cluster belong to a criterion: its score counts only the criteria "
        "with that tag, in the examples where at least one of them is positive. Penalties on an axis where an example "
        "has only penalties are therefore in no axis score, though they count in the example's own. That is why axis "
        "scores do not add up to the score of the run."
    )
    worked.show(case, worked.tags)

    st.header("Unknown verdicts", anchor="unknown")
    st.markdown(
        "A verdict that was never given is unknown, and is not counted as not met. An example with one has no score; "
        "it has bounds, the lowest and highest score its unknown verdicts leave open. Some tools store a failed "
        "grading as not met and leave a mark; those are unknown here, and a switch on the page *Score* counts them as "
        "the file does."
    )
    worked.show(case, worked.unknown)

    st.header("Uncertainty", anchor="uncertainty")
    st.markdown(
        "The interval says how the mean would vary with other prompts of the same kind: the prompts are drawn 1,000 "
        "times with replacement (replies to one prompt move together), and the middle 95 % of the unclipped means is "
        "the interval. The reference evaluator prints another spread, over rows and over clipped means; it shrinks to "
        "0 when everything clips. Neither says anything about a grader's mistakes or about other replies of the same "
        "model. A mean over fewer than 20 examples is marked."
    )
    worked.show(case, worked.uncertainty)

    st.header("Length adjustment", anchor="length")
    st.markdown(
        "HealthBench Professional also states scores adjusted for the length of a reply: every example score, "
        "unclipped, then the mean, then one clip. Characters are Unicode code points."
    )
    st.latex(
        r"\text{adjusted} = \text{score} - \text{penalty} \cdot "
        r"\frac{\text{characters} - \text{center}}{500}"
    )
    worked.show(case, worked.length)

    st.header("Who grades", anchor="grader")
    st.markdown(
        "Verdicts come from a language model, one call a criterion. In the paper that was GPT-4.1 "
        "(gpt-4.1-2025-04-14), which agreed with physicians about as well as physicians did with each other. Another "
        "grader gives other verdicts on the same replies, so runs with different graders should not be compared. "
        "Where a file does not record its grader, this app says so."
    )
    st.markdown(
        "The paper's comparison with physicians covers consensus criteria only. The criteria written for single "
        "examples, five of six, were never validated that way, and Professional has no comparison of its own."
    )
    published_tables.grader_validation()

with st.container(width=TEXT_WIDTH):
    st.header("Rules by name", anchor="rules")
    st.markdown("\n".join(f"- {in_words(rule)}" for rule in RULES.values()))

st.header("What the data sets hold", anchor="data-sets")
with st.container(width=TEXT_WIDTH):
    st.markdown(
        "A data set has a row a conversation: its turns, ending with a user's; its rubric, each criterion with points "
        f"from {points(-10)} to {points(10)} and tags; and tags of its own. In HealthBench every conversation has one theme, and every "
        "criterion one level and one axis; consensus criteria, worth +5 each, were agreed by several physicians and are "
        "part of the same rubrics. Professional has no tags on its criteria, but a use case, a type, a difficulty and a "
        "specialty for each task. Results files of the reference evaluator keep a criterion's tags but not the "
        "conversation's: that is why themes need the data set."
    )
published_tables.anatomy()

st.header("Published results", anchor="results")
with st.container(width=TEXT_WIDTH):
    st.markdown(
        "Figures as printed, each with the conditions it holds under. Graders, samples and implementations differ "
        "between tables, so compare within a table, not between two. Scores of HealthBench by theme and axis are only "
        "drawn in the paper and therefore not here."
    )
published_tables.results()

with st.container(width=TEXT_WIDTH):
    st.header("Limits", anchor="limits")
    st.markdown(
        "- A rubric says what its writers looked for, in one conversation, as text. It measures no outcome of care.\n"
        "- Themes and axes have different numbers of examples and of points; a low mean with a wide interval says "
        "little.\n"
        "- The axis of a criterion was given by a model, not by the physician who wrote it.\n"
        "- Inferred themes come from consensus criteria and exist only for the examples that have one.\n"
        "- A run over a subset (Hard, Consensus) has another scale than a run over all examples."
    )
    st.header("What others found wrong", anchor="criticism")
    criticism()
    st.header("Sources", anchor="sources")
    published_tables.sources()
    notice()
