-- Keeps rows of recorded_probe.
-- param: rows varchar [JSON list of objects by column]
insert into recorded_probe by name
with told as (
    select unnest(from_json($rows, '[{"run_id": "VARCHAR", "probe_id": "INTEGER", "group_id": "VARCHAR", "version_key": "VARCHAR", "device": "VARCHAR",
        "kernel_type": "VARCHAR", "path": "VARCHAR", "regime_json": "VARCHAR", "region": "VARCHAR", "scheme": "VARCHAR",
        "axis_names": "VARCHAR[]", "x": "DOUBLE[]", "holdout_id": "VARCHAR", "truth_us": "DOUBLE", "pred_us": "DOUBLE",
        "cmp_us": "DOUBLE", "source": "VARCHAR", "coverage": "INTEGER", "confidence": "DOUBLE", "method": "VARCHAR", "dims":
        "INTEGER", "n_candidates": "BIGINT", "cell_ratio": "DOUBLE", "spread": "DOUBLE", "nearest_us": "DOUBLE",
        "noise_floor": "DOUBLE", "jump": "DOUBLE", "reason": "VARCHAR", "failure_hint": "VARCHAR"}]'), recursive := true)
)
select * from told
