-- Adds lookups to the log.
-- param: rows varchar [JSON list of objects with the columns of lookup_log but logged_at]
insert into lookup_log by name
select unnest(from_json($rows, '[{
        "run_id": "VARCHAR", "version_key": "VARCHAR", "mode": "VARCHAR", "context_json": "VARCHAR", "op": "VARCHAR",
        "dispatch": "VARCHAR", "input_shapes": "VARCHAR", "input_dtypes": "VARCHAR", "call_count": "BIGINT",
        "source": "VARCHAR", "latency_us": "DOUBLE", "confidence": "DOUBLE", "kernel_type": "VARCHAR",
        "method": "VARCHAR", "interpolation_dim": "INTEGER", "axes": "VARCHAR", "shape_match_rule": "VARCHAR",
        "miss_reason": "VARCHAR", "is_zero_cost": "BOOLEAN", "policy_hash": "VARCHAR", "analytic_us": "DOUBLE",
        "candidate_source": "VARCHAR", "candidate_latency_us": "DOUBLE", "candidate_confidence": "DOUBLE",
        "candidate_kernel_type": "VARCHAR", "candidate_rule": "VARCHAR", "candidate_miss_reason": "VARCHAR"
    }]'), recursive := true), (now() at time zone 'UTC')::timestamp as logged_at
