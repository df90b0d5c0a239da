"""Inspect logs of inspect_evals' HealthBench: archives, JSON logs and extracted folders."""

from __future__ import annotations

import json
import zipfile

import pytest
from specimens import (
    CASES,
    DEFLATE,
    FAILED,
    ORACLE,
    STORED,
    ZSTD,
    differences,
    inspect_header,
    inspect_members,
    inspect_sample,
    members,
    raw,
    read,
    scores,
    write_zip,
)

from healthbench.errors import InputRefusedError, NotAGradedRunError
from healthbench.readers import find_runs, open_runs


def write_document(folder, header=None, samples=None, name="log.json"):
    samples = [inspect_sample(case) for case in CASES] if samples is None else samples
    path = folder / name
    path.write_text(
        json.dumps({**(header or inspect_header()), "samples": samples}), encoding="utf-8"
    )
    return path


def write_folder(folder, contents):
    for name, data in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def every_form(folder, contents, samples, header):
    return [
        write_zip(folder / "zstd.eval", contents, ZSTD),
        write_zip(folder / "deflate.eval", contents, DEFLATE),
        write_zip(folder / "stored.eval", contents, STORED),
        write_folder(folder / "extracted", contents),
        write_document(folder, header, samples),
    ]


def test_every_form_gives_the_same_run(tmp_path):
    samples = [inspect_sample(case) for case in CASES]
    for path in every_form(tmp_path, inspect_members(), samples, inspect_header()):
        run, examples = read(path)
        assert scores(examples) == ORACLE, path
        assert [e.prompt_id for e in examples] == ["case-1", "case-2", "case-3"]
        assert [e.reply for e in examples] == [case.reply for case in CASES]
        assert [m.content for m in examples[1].prompt] == [m["content"] for m in CASES[1].prompt]
        info = run.info
        assert (info.model, info.grader) == ("acme/careful", "acme/judge")
        assert (info.benchmark, info.rule) == ("HealthBench Hard", "inspect")
        assert info.clip_level == "run"


def test_the_log_states_three_headlines_and_all_are_ours(tmp_path):
    run, examples = read(write_zip(tmp_path / "log.eval", inspect_members()))
    assert run.info.stated == {
        "overall_score": 0.0,
        "overall_score:bootstrap_std": 0.19,
        "unclipped_mean": -0.3,
        "overall_score_length_adjusted": -0.2416312,
        "axis:accuracy": 0.5,
        "axis:accuracy:bootstrap_std": 0.35,
        "axis:accuracy:n_samples": 2.0,
        "theme:hedging": 0.7,
    }
    # Axis by Inspect's rule: (1 + clip(-1.6)) / 2 = 0.5. Length: -0.3 + 0.0147 * ((2000 - 20) * 2 + 1996) / 500 / 3.
    assert not differences(run, examples)


def test_theme_tags_copied_into_items_are_tags_of_the_example_only(tmp_path):
    run, examples = read(write_zip(tmp_path / "log.eval", inspect_members()))
    assert examples[0].example_tags == ("theme:hedging", "physician_agreed_category:no-uncertainty")
    assert examples[0].criteria[0].tags == ("level:example", "axis:accuracy")
    assert run.report.themes_from == "file"


def test_themes_are_taken_from_the_items_where_the_sample_has_none(tmp_path):
    sample = inspect_sample(CASES[0])
    del sample["metadata"]["example_tags"]
    _, (example,) = read(write_document(tmp_path, samples=[sample]))
    assert example.example_tags == ("theme:hedging",)


def test_a_grade_that_failed_is_unknown_and_counts_as_the_file_counts_it_on_request(tmp_path):
    failing = CASES[0]._replace(
        items=[CASES[0].items[0], CASES[0].items[1]._replace(explanation=FAILED), CASES[0].items[2]]
    )
    cases = [failing, *CASES[1:]]
    run, examples = read(write_zip(tmp_path / "log.eval", inspect_members(cases)))
    assert scores(examples)["case-1"] is None
    assert scores(examples, stored=True) == ORACLE
    assert run.report.verdicts == {"bool": 6, "failure mark": 1}
    assert not differences(run, examples)


def test_an_empty_reply_scored_zero_without_grading_is_unknown_but_counts_in_the_files_mean(
    tmp_path,
):
    score = {"_scorer": {"value": {"healthbench_score": 0.0}, "metadata": None}}
    empty = inspect_sample(CASES[0], scores=score, output={"completion": ""})
    run, examples = read(write_document(tmp_path, samples=[empty, inspect_sample(CASES[1])]))
    assert scores(examples) == {"case-1": None, "case-2": -1.6}
    assert scores(examples, stored=True) == {"case-1": 0.0, "case-2": -1.6}
    assert run.report.verdicts["failure mark"] == 3


def test_epochs_are_repeats_and_figures_of_the_first_epoch_are_not_compared(tmp_path):
    header = inspect_header()
    header["eval"]["config"]["epochs"] = 2
    samples = [inspect_sample(case, epoch) for epoch in (2, 1) for case in reversed(CASES)]
    run, examples = read(write_zip(tmp_path / "log.eval", members(header, samples)))
    assert [e.prompt_id for e in examples] == ["case-1", "case-2", "case-3"] * 2
    assert examples[0].completion_id == "case-1/1"
    assert set(run.info.stated) == {
        "overall_score",
        "unclipped_mean",
        "overall_score_length_adjusted",
    }
    assert not differences(run, examples)
    assert any("first epoch" in warning for warning in run.report.warnings)


@pytest.mark.parametrize("status", ["error", "cancelled", "started"])
def test_a_log_without_a_graded_sample_says_so(tmp_path, status):
    header = inspect_header(status=status)
    del header["results"]
    samples = [
        inspect_sample(CASES[0], scores={}, error={"message": "boom"}) | {"id": f"s{n}"}
        for n in range(5)
    ]
    for path in every_form(tmp_path, members(header, samples), samples, header):
        with pytest.raises(NotAGradedRunError, match=f"status {status}: 5 samples, none graded"):
            open_runs([path])


def test_samples_that_ended_in_error_stay_in_the_denominator(tmp_path):
    header = inspect_header(status="error")
    del header["results"]
    samples = [
        inspect_sample(CASES[0]),
        inspect_sample(CASES[1], scores={}, error={"message": "TypeError('x')"}),
    ]
    run, examples = read(write_zip(tmp_path / "log.eval", members(header, samples)))
    assert scores(examples) == {"case-1": 0.7, "case-2": None}
    assert examples[1].error == "TypeError('x')"
    assert run.info.stated == {}
    assert any("3 samples were planned, 2 are in the log and 1" in w for w in run.report.warnings)


def test_a_crashed_log_without_a_header_is_read_from_its_journal(tmp_path):
    contents = inspect_members()
    del contents["header.json"]
    run, examples = read(write_zip(tmp_path / "log.eval", contents))
    assert scores(examples) == ORACLE
    assert run.info.model == "acme/careful"
    assert run.info.settings["status"] == "started"


def test_attachments_are_put_where_the_texts_refer_to_them(tmp_path):
    sample = inspect_sample(CASES[0])
    sample["attachments"] = {
        "a1": "A long question?",
        "a2": "A long reply.",
        "a3": "A long reason.",
    }
    sample["input"] = [{"role": "user", "content": "attachment://a1"}]
    sample["output"]["completion"] = "attachment://a2"
    details = sample["scores"]["_scorer"]["metadata"]["detailed_results"]
    details[0]["explanation"] = "attachment://a3"
    details[1]["explanation"] = "attachment://lost"
    contents = members(inspect_header(CASES[:1]), [sample])
    run, (example,) = read(write_folder(tmp_path / "extracted", contents))
    assert example.prompt[0].content == "A long question?"
    assert example.reply == "A long reply."
    assert example.verdicts[0].explanation == "A long reason."
    assert any("attachments that the log does not hold" in w for w in run.report.warnings)


def test_a_string_prompt_a_reply_in_parts_and_a_number_as_id_are_read(tmp_path):
    sample = inspect_sample(CASES[0], input="What helps?")
    parts = [{"type": "reasoning", "text": ""}, {"type": "text", "text": "Rest."}]
    sample["output"] = {"choices": [{"message": {"role": "assistant", "content": parts}}]}
    sample["metadata"]["prompt_id"] = None
    sample["id"] = 7
    _, (example,) = read(write_document(tmp_path, samples=[sample]))
    assert (example.prompt_id, example.prompt[0].content) == ("7", "What helps?")
    assert example.reply.strip() == "Rest."


def test_string_verdicts_and_numbers_are_read_and_counted(tmp_path):
    sample = inspect_sample(CASES[0])
    details = sample["scores"]["_scorer"]["metadata"]["detailed_results"]
    details[0]["met"], details[1]["met"], details[2]["met"] = "true", 0, "perhaps"
    run, (example,) = read(write_document(tmp_path, samples=[sample]))
    assert [v.met for v in example.verdicts] == [True, False, None]
    assert run.report.verdicts == {"string": 1, "0/1": 1, "unreadable": 1}


def test_not_a_number_in_a_json_log_is_read(tmp_path):
    sample = inspect_sample(CASES[0])
    sample["scores"]["_scorer"]["value"]["other"] = float("nan")
    assert "NaN" in write_document(tmp_path, samples=[sample]).read_text(encoding="utf-8")
    _, examples = read(tmp_path / "log.json")
    assert scores(examples) == {"case-1": 0.7}


def test_a_log_of_other_scorers_is_named(tmp_path):
    sample = inspect_sample(CASES[0], scores={"match": {"value": "C"}})
    with pytest.raises(NotAGradedRunError, match="scored by match, without rubric verdicts"):
        open_runs([write_document(tmp_path, samples=[sample])])


def test_a_member_that_stands_there_twice_counts_once(tmp_path):
    pairs = list(inspect_members().items())
    name = "samples/case-1_epoch_1.json"
    other = json.dumps(inspect_sample(CASES[0], output={"completion": "Later."})).encode()
    run, examples = read(write_zip(tmp_path / "log.eval", [*pairs, (name, other)]))
    assert len(examples) == 3
    assert examples[0].reply == "Later."
    assert "more than once" in run.report.duplicates[0]


def test_a_listing_of_logs_is_named(tmp_path):
    path = tmp_path / "logs.json"
    path.write_text(json.dumps({"a.eval": {"status": "success"}}), encoding="utf-8")
    with pytest.raises(NotAGradedRunError, match="listing of Inspect logs"):
        open_runs([path])


def test_a_folder_of_logs_gives_each_of_them_and_one_broken_log_hides_none(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    write_zip(folder / "a.eval", inspect_members())
    broken = write_zip(folder / "b.eval", inspect_members())
    broken.write_bytes(broken.read_bytes()[:-40])
    write_document(folder, name="c.json")
    found = find_runs([folder])
    assert sum(len(f.runs) for f in found) == 2
    assert sum(f.refused is not None for f in found) == 1


# Hostile archives


@pytest.mark.parametrize(
    "name", ["/etc/samples/x.json", "../samples/x.json", "a/../../b", "C:\\x.json", "..\\x"]
)
def test_names_that_point_outside_are_refused(tmp_path, name):
    path = write_zip(tmp_path / "log.eval", inspect_members() | {name: b"{}"})
    with pytest.raises(InputRefusedError, match="points outside"):
        open_runs([path])


@pytest.mark.parametrize("method", [DEFLATE, ZSTD])
def test_a_bomb_is_not_unpacked(tmp_path, method):
    sample = b'{"id": "' + b"0" * 40_000_000 + b'"}'
    contents = inspect_members() | {"samples/bomb_epoch_1.json": sample}
    path = write_zip(tmp_path / "log.eval", contents, method)
    assert path.stat().st_size < 100_000
    with pytest.raises(InputRefusedError, match="unpacks to far more"):
        read(path)


@pytest.mark.parametrize("method", [STORED, DEFLATE, ZSTD])
@pytest.mark.parametrize("size", [5, 10_000_000])
def test_a_member_that_belies_its_directory_is_refused(tmp_path, method, size):
    path = write_zip(tmp_path / "log.eval", inspect_members(), method, size=size)
    with pytest.raises(InputRefusedError, match=r"directory says|unpacks to far more"):
        read(path)


def test_a_huge_archive_of_empty_promises_is_refused(tmp_path):
    path = write_zip(tmp_path / "log.eval", inspect_members(), size=(1 << 32) - 2)
    with pytest.raises(InputRefusedError, match="unpacks to far more"):
        open_runs([path])


def test_damaged_data_is_refused(tmp_path):
    path = write_zip(tmp_path / "log.eval", inspect_members())
    data = bytearray(path.read_bytes())
    begin = data.index(b"samples/case-2_epoch_1.json") + 60
    data[begin : begin + 30] = bytes(30)
    path.write_bytes(bytes(data))
    with pytest.raises(InputRefusedError):
        read(path)


def test_other_packing_and_passwords_are_refused(tmp_path):
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        for name, data in inspect_members().items():
            archive.writestr(name, data)
    with pytest.raises(InputRefusedError, match="zip method 12"):
        open_runs([path])
    path = write_zip(tmp_path / "locked.eval", inspect_members(), STORED)
    locked = path.read_bytes().replace(
        b"PK\x01\x02\x14\x00\x14\x00\x00\x00", b"PK\x01\x02\x14\x00\x14\x00\x01\x00"
    )
    path.write_bytes(locked)
    with pytest.raises(InputRefusedError, match="encrypted"):
        open_runs([path])


def test_json_nested_too_deeply_is_refused(tmp_path):
    deep = b'{"id": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    path = write_zip(tmp_path / "log.eval", inspect_members() | {"samples/deep_epoch_1.json": deep})
    with pytest.raises(InputRefusedError, match="nested too deeply"):
        read(path)


def test_a_header_nested_too_deeply_is_refused(tmp_path):
    deep = "[" * 100_000 + "]" * 100_000
    text = json.dumps({**inspect_header(), "plan": 0, "samples": []}).replace(
        '"plan": 0', f'"plan": {deep}'
    )
    path = tmp_path / "log.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputRefusedError, match="nested too deeply"):
        open_runs([path])


def test_a_cut_off_json_log_is_refused(tmp_path):
    path = write_document(tmp_path)
    path.write_text(path.read_text(encoding="utf-8")[:-200], encoding="utf-8")
    with pytest.raises(InputRefusedError, match="copy it again"):
        read(path)


def test_a_criterion_without_points_names_its_place(tmp_path):
    sample = inspect_sample(CASES[0])
    del sample["scores"]["_scorer"]["metadata"]["detailed_results"][1]["points"]
    with pytest.raises(
        InputRefusedError, match=r"log.json, example 1, criterion 2: points is missing"
    ):
        read(write_document(tmp_path, samples=[sample]))


def test_the_stated_score_of_each_sample_is_kept(tmp_path):
    _, examples = read(write_document(tmp_path))
    assert [e.stated_score for e in examples] == [raw(case) for case in CASES]
