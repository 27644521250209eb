-- Attention targets as exact lookups compare them; what the CSV of a kernel cannot confirm counts as not told.
-- param: targets varchar [JSON list: item, kernel file, dtype, query and key shape, what the call tells, needed CSV columns]
-- param: columns varchar [JSON map of each kernel file to the names of its CSV columns]
-- source: the macros that sql/paths/attention_special.sql places rows and targets with
with targets as (
    select *, map_extract_value(from_json($columns::varchar, '"MAP(INTEGER, VARCHAR[])"'), file_id) as column_names
    from (select unnest(from_json($targets::varchar, '[{"item_id": "INTEGER", "file_id": "INTEGER",
        "dtype": "VARCHAR", "shape": "BIGINT[]", "key_shape": "BIGINT[]", "runtime_avg_seq_len": "DOUBLE",
        "runtime_sparse_mode": "BIGINT", "runtime_num_key_value_heads": "BIGINT", "runtime_input_layout": "VARCHAR",
        "needed": "VARCHAR[]"}]'), recursive := true))
), queries as (
    select *, attention_query(shape, key_shape[-1]) as query,
        attention_layout(runtime_input_layout, len(shape), runtime_sparse_mode, false) as layout
    from targets
)
select item_id, file_id, column_names, dtype, query, query[1] as tokens, query[2] as heads, query[3] as head_dim,
    trunc(runtime_avg_seq_len) as seq,
    attention_told(attention_sparse_mode(runtime_sparse_mode, layout, false), 'Runtime sparse_mode', column_names)
        as sparse_mode,
    attention_told(attention_kv_heads(runtime_num_key_value_heads, key_shape, layout, false),
        'Runtime num_key_value_heads', column_names) as kv_heads,
    attention_told(layout, 'Runtime input_layout', column_names) as layout,
    list_contains(column_names, 'Runtime avg_seq_len') as has_runtime_mean,
    list_filter(needed, lambda name: not list_contains(column_names, name)
        and not (name = 'Runtime avg_seq_len' and list_contains(column_names, 'avg_seq_len'))) as missing_columns
from queries
