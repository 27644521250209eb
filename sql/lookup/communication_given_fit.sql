-- Lines through the measurements of collectives, as lookup.communication_fit gave them before.
-- param: fits varchar [JSON list of its rows]
select unnest(from_json($fits::varchar, '[{"file_id": "INTEGER", "num_devices": "BIGINT", "topology_tier": "BIGINT",
    "latency_column": "VARCHAR", "row_count": "BIGINT", "alpha_us": "DOUBLE", "beta_us_per_byte": "DOUBLE",
    "r2": "DOUBLE"}]'), recursive := true)
