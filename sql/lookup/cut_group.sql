-- Groups of equal measurements cut to their first operands, under wanted keys that ingest stored for no such cut.
-- param: file_ids integer[] [file of each wanted key]
-- param: limits integer[] [first operands that count, of each wanted key]
-- param: keys varchar[] [wanted keys]
-- param: aggregation varchar [mean, median, min or first]
-- source: the same forms and macros as sql/ingest/row_keys.sql
with wanted as (
    select unnest($file_ids) as file_id, unnest($limits) as cut, unnest($keys) as match_key
), groups as (
    select file_id, cut, kernel_type, signature_id, latency_rank, latency_column, min(row_id) as row_id,
        arg_min(line_number, row_id) as line_number, count(*) as measurement_count,
        min(latency_us) as latency_min_us, max(latency_us) as latency_max_us,
        case $aggregation when 'mean' then avg(latency_us order by latency_us) when 'median' then median(latency_us)
            when 'min' then min(latency_us) else arg_min(latency_us, row_id) end as latency_us
    from (select distinct file_id, cut from wanted) join measurement using (file_id)
    where len(operand_shapes) > cut
    group by file_id, cut, kernel_type, signature_id, latency_rank, latency_column
), operands as (
    select g.*, coalesce(is_transposable, false) as is_transposable, coalesce(is_relaxed_dtype, false) as is_relaxed,
        operand_shapes[1:cut] as shapes, operand_dtypes[1:cut] as dtypes,
        if(list_sum(operand_gaps[1:cut]) = 0, '', operand_gaps[1:cut]::varchar) || '#cut' as place
    from groups as g join (select row_id, operand_shapes, operand_dtypes, operand_gaps from measurement) using (row_id)
    left join kernel_trait using (kernel_type)
), forms as (
    select *, bare_shapes(shapes) as bare, padded_sizes(bare) as padded, size_class(padded) as class,
        '|' || array_to_string(dtypes, ';') || place as suffix,
        '|~' || array_to_string(list_transform(dtypes, lambda dtype: if(dtype = 'FLOAT', 'DT_BF16', dtype)), ';') || place
            as loose_suffix
    from operands
), keyed_forms as (
    select *, shapes::varchar as plain_key, bare::varchar as bare_key,
        case when bare = shapes then [padded::varchar]
            else list_distinct([padded_sizes(shapes)::varchar, padded::varchar,
                padded_sizes([bare[1]] || shapes[2:])::varchar, padded_sizes([shapes[1]] || bare[2:])::varchar])
            end as padded_keys,
        unnest(if(is_relaxed, [suffix, loose_suffix], [suffix])) as key_suffix
    from forms
), keys as (
    select *, unnest([{'key': plain_key, 'is_bare': false}]
        || if(bare_key <> plain_key, [{'key': bare_key, 'is_bare': true}], [])
        || if(is_transposable and len(shapes) > 1, [{'key': 's' || sorted_weights(shapes)::varchar, 'is_bare': false}], [])
        || list_transform(padded_keys, lambda key: {'key': 'p' || key, 'is_bare': false})) as form
    from keyed_forms
)
select k.file_id, w.match_key, k.form.is_bare as is_bare, k.row_id, k.line_number, k.latency_column, k.latency_rank,
    k.signature_id, k.measurement_count, k.latency_min_us, k.latency_max_us, k.latency_us, k.cut as input_limit
from keys as k join wanted as w on w.file_id = k.file_id and w.cut = k.cut and w.match_key = k.form.key || k.key_suffix
order by k.file_id, k.cut, w.match_key, k.row_id
