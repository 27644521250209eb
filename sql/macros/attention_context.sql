-- Recorded meaning of an attention cell: fields whose column the CSV has, from it or else from query and cache.
create or replace temp macro attention_context(cell) as
    list_transform([
        {'name': 'sparse_mode', 'field': cell.runtime_sparse_mode::varchar},
        {'name': 'num_heads', 'field': coalesce(cell.runtime_num_heads, cell.operand_shapes[1][-2])::varchar},
        {'name': 'num_key_value_heads', 'field': coalesce(cell.runtime_num_key_value_heads,
            if(cell.runtime_cache_layout = 'PA_BSND', cell.operand_shapes[2][-2], null))::varchar},
        {'name': 'block_size', 'field': coalesce(cell.runtime_block_size,
            if(cell.runtime_cache_layout = 'PA_BSND', cell.operand_shapes[2][2], null))::varchar},
        {'name': 'input_layout', 'field': coalesce(cell.runtime_input_layout,
            case len(cell.operand_shapes[1]) when 3 then 'TND' when 4 then 'BSND' end)},
        {'name': 'cache_layout', 'field': cell.runtime_cache_layout},
        {'name': 'kv_cache_mode', 'field': cell.runtime_kv_cache_mode}],
        lambda f: {'name': f.name, 'field': if(list_contains(cell.column_names, 'Runtime ' || f.name), trim(f.field), null)})
