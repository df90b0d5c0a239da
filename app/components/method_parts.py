"""Prose of the Method page that has a shape of its own: the pipeline, and what others found wrong."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

PIPELINE = (
    (
        "1 Conversation and rubric",
        "Physicians wrote for each conversation what a good reply does and what it must not do, each line with signed points.",
    ),
    (
        "2 Reply",
        "The model under test answers the conversation's last turn. It never sees the rubric.",
    ),
    (
        "3 Verdicts",
        "A grader, itself a model, reads conversation, reply and one criterion at a time, and says met or not met.",
    ),
    (
        "4 Score",
        "Arithmetic only: points met over points possible for each example, their mean over the run, one clip.",
    ),
)


class Criticism(NamedTuple):
    """What somebody found, and where it is written; ``address`` is empty where there is no stable one."""

    text: str
    source: str
    address: str = ""


CRITICISM = (
    Criticism(
        "Criteria whose sign looks wrong (harmful advice rewarded, an urgent referral penalised). The list was made with a "
        "model, by an author who is no physician, and is not exhaustive.",
        "openai/simple-evals, issue 77",
        "https://github.com/openai/simple-evals/issues/77",
    ),
    Criticism(
        "A published 0.67 of GPT-5 was not reproduced; the reporter found 0.64, and a later OpenAI table prints 63.1 with an "
        "updated implementation.",
        "openai/simple-evals, issue 96; GPT-5.5 system card, Table 7",
        "https://github.com/openai/simple-evals/issues/96",
    ),
    Criticism(
        "Of 1,298 claims checked, 111 were flagged and 29 would change a decision, mostly made-up citations in ideal "
        "completions; the grader accepts made-up citations as good evidence.",
        "NoBSmed audit",
        "https://github.com/borisdev/nobsmed-healthbench-audit",
    ),
    Criticism(
        "642 examples (12.8 %) have two criteria that say nearly the same, so that one point counts twice.",
        "kelkalot/openai-healthbench-analysis",
        "https://github.com/kelkalot/openai-healthbench-analysis",
    ),
    Criticism(
        "Physicians disagree for reasons in the case: the rubric explains 15.8 % of the variance of their labels, who the "
        "physician is 2.4 %, and 81.8 % stays with the single case.",
        "arXiv 2602.22758",
        "https://arxiv.org/abs/2602.22758",
    ),
    Criticism(
        "Two graders differ by up to 73 points in how often they call a category met.",
        "CIMO Labs, calibration audit of judges over 29,511 rows",
    ),
    Criticism(
        "Graders favour replies of their own family, by up to 10 points; most on penalties, very short or long rubrics, and "
        "emergency referrals.",
        "arXiv 2604.06996",
        "https://arxiv.org/abs/2604.06996",
    ),
    Criticism(
        "Graders judge completeness poorly: areas under the curve of 0.49 to 0.66 against clinicians.",
        "arXiv 2604.16383",
        "https://arxiv.org/abs/2604.16383",
    ),
    Criticism(
        "Rubrics state expert opinion, which guidelines do not always share and which differs by region.",
        "arXiv 2508.00081",
        "https://arxiv.org/abs/2508.00081",
    ),
)


def pipeline() -> None:
    """Show the way from a conversation to a score in four steps."""
    with st.grid(4, min_column_width=200) as steps:
        for title, text in PIPELINE:
            with steps.cell(), st.container(border=True, height="stretch"):
                st.markdown(f"**{title}**")
                st.markdown(text)


def criticism() -> None:
    """List what others found wrong, each with its source."""
    st.markdown(
        "\n".join(
            f"- {item.text} ({f'[{item.source}]({item.address})' if item.address else item.source})"
            for item in CRITICISM
        )
    )
