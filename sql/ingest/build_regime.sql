-- Regimes: the distinct discrete fields of all placed rows, numbered in a stable order.
insert into regime by name
select row_number() over (order by file_id, path, input_limit, regime_key, not is_nd, input_formats, output_dtypes)::integer
        as regime_id,
    version_id, file_id, kernel_type, path, input_limit, regime_key, input_formats, output_dtypes, is_nd,
    any_value(axis_names) as axis_names,
    list_sort(list(distinct latency_rank)) as latency_ranks, count(*) as measurement_count
from placed_row join path_axes using (path)
where reason is null
group by version_id, file_id, kernel_type, path, input_limit, regime_key, input_formats, output_dtypes, is_nd
