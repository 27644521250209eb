-- Groups of equal measurements under the keys that an exact lookup may find them by, whole and cut to fewer operands.
insert into exact_key
with groups as (
    select file_id, signature_id, latency_rank, latency_column, min(row_id) as row_id, avg(latency_us order by latency_us) as mean_us,
        median(latency_us) as median_us, min(latency_us) as min_us, arg_min(latency_us, row_id) as first_us,
        max(latency_us) as max_us, count(*) as measurement_count
    from measurement where len(operand_shapes) > 0 group by file_id, signature_id, latency_rank, latency_column
), limits as (
    select file_id, list(input_limit) as limits from cut_use group by file_id
), cut_groups as (
    select g.*, unnest([0] || coalesce(limits, [])) as cut from groups as g left join limits using (file_id)
), operands as (
    select g.*, m.line_number, coalesce(is_transposable, false) as is_transposable,
        coalesce(is_relaxed_dtype, false) as is_relaxed, if(cut > 0, operand_shapes[1:cut], operand_shapes) as shapes,
        if(cut > 0, operand_dtypes[1:cut], operand_dtypes) as dtypes,
        if(list_sum(if(cut > 0, operand_gaps[1:cut], operand_gaps)) = 0, '',
            if(cut > 0, operand_gaps[1:cut], operand_gaps)::varchar) || if(cut > 0, '#cut', '') as place
    from cut_groups as g
    join (select row_id, kernel_type, line_number, operand_shapes, operand_dtypes, operand_gaps from measurement) as m
        using (row_id)
    left join kernel_trait using (kernel_type)
    where cut = 0 or cut < len(operand_shapes)
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
select file_id, form.key || key_suffix as match_key, form.is_bare, mean_us, nullif(median_us, mean_us), nullif(min_us, mean_us),
    nullif(first_us, mean_us), nullif(max_us, mean_us), measurement_count, latency_rank, latency_column, signature_id, row_id,
    line_number, class
from keys
order by file_id, class, match_key, row_id
