-- Measured message sizes of collectives, as lookup.communication_size gave them before.
-- param: sizes varchar [JSON list of its rows]
select unnest(from_json($sizes::varchar, '[{"file_id": "INTEGER", "num_devices": "BIGINT", "has_tiers": "BOOLEAN",
    "topology_tier": "BIGINT", "latency_column": "VARCHAR", "latency_rank": "INTEGER", "message_bytes": "BIGINT",
    "size": {"message_bytes": "BIGINT", "latency_us": "DOUBLE", "latency_min_us": "DOUBLE", "latency_max_us": "DOUBLE",
        "measurement_count": "BIGINT", "line": "BIGINT", "dtypes": "VARCHAR[]"}}]'), max_depth := 2)
