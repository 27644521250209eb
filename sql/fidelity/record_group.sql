-- Keeps rows of recorded_group.
-- param: rows varchar [JSON list of objects by column]
insert into recorded_group by name
with told as (
    select unnest(from_json($rows, '[{"run_id": "VARCHAR", "group_id": "VARCHAR", "kernel_type": "VARCHAR", "regime_json": "VARCHAR", "n_probe": "BIGINT",
        "n_truth": "BIGINT", "n_answered": "BIGINT", "n_within": "BIGINT", "n_optimistic": "BIGINT", "n_within_noise":
        "BIGINT", "answer_rate": "DOUBLE", "within_rate": "DOUBLE", "within_of_truth": "DOUBLE", "med": "DOUBLE", "geomean":
        "DOUBLE", "p10": "DOUBLE", "p90": "DOUBLE", "mape": "DOUBLE", "worst": "DOUBLE", "worst_probe_id": "INTEGER",
        "verdict": "VARCHAR", "failure_class": "VARCHAR"}]'), recursive := true)
)
select * from told
