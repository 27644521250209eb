-- The entries of one mapping, in its order.
-- param: entries json [array of objects, keys are the columns of op_mapping]
insert into op_mapping by name
select entry.* from (
    select unnest(from_json($entries, '[{"version_id": "integer", "operator": "varchar", "dispatch": "varchar",
        "kernel_type": "varchar", "alternate_kernel_types": ["varchar"], "query_mode": "varchar",
        "compute_subcategory": "varchar", "tc_input_count": "integer", "entry_json": "varchar"}]')) as entry
)
