-- Rows of each attention file on which query tokens, sequence length, batch, heads and head dim can be told.
-- example: Does the attention file of this version tell the batch often enough to interpolate along it?
create or replace view attention_axis_derivability as
with kernels as (
    select version_id, kernel_type from profile_version cross join kernel_path
    where kind = 'kernel' and path = 'attention_special'
    union
    select version_id, unnest([kernel_type] || alternate_kernel_types)
    from op_mapping where dispatch = 'attention_special'
), slots as (
    select m.file_id, if(operand_gaps[1] = 0, operand_shapes[1], null) as query,
        if(operand_gaps[2] = 0, operand_shapes[2], null)[-1] as key_dim, runtime_batch_size as batch,
        if(list_contains(column_names, 'Runtime avg_seq_len'), runtime_avg_seq_len, avg_seq_len) >= 0 as has_seq,
        list_transform(regexp_extract_all(runtime_actual_seq_lengths_values, '[0-9]+'),
            lambda number: try_cast(number as bigint)) as lengths,
        if(regexp_full_match(runtime_actual_seq_lengths_shape, '[\s"]*[0-9]{1,15}[\s";]*'),
            regexp_extract(runtime_actual_seq_lengths_shape, '[0-9]+')::bigint, null) as length_count,
        regexp_full_match(runtime_actual_seq_lengths_values, '[\s"]*[0-9]{1,15}(\s*[,;]\s*[0-9]{1,15})*[\s";]*')
            as is_list
    from measurement as m join source_file using (file_id)
), readings as (
    select file_id, has_seq, len(query) in (2, 3) or (len(query) = 4 and query[3] = 1) as has_tokens,
        len(query) = 3 or (len(query) = 4 and query[3] = 1)
            or (len(query) = 2 and key_dim > 0 and query[2] % key_dim = 0) as has_heads,
        batch > 0 or (len(query) = 4 and query[3] = 1) or (is_list and length_count = len(lengths)
            and (list_sum(lengths) = query[1] or (lengths[-1] = query[1] and list_sort(lengths) = lengths))) as has_batch
    from slots
), counts as (
    select file_id, count(*) as row_count, count(*) filter (has_tokens) as q_tokens_rows,
        count(*) filter (has_seq) as seq_rows, count(*) filter (has_batch and has_heads) as batch_rows,
        count(*) filter (has_heads) as heads_rows
    from readings group by file_id
)
select v.version_key, k.kernel_type, f.file_name, coalesce(row_count, 0) as row_count,
    coalesce(q_tokens_rows, 0) as q_tokens_rows, coalesce(seq_rows, 0) as seq_rows,
    coalesce(batch_rows, 0) as batch_rows, coalesce(heads_rows, 0) as heads_rows,
    coalesce(heads_rows, 0) as head_dim_rows
from kernels as k join profile_version as v using (version_id)
left join source_file as f on f.version_id = k.version_id and f.kernel_type = k.kernel_type
left join counts using (file_id)
order by v.version_key, k.kernel_type, f.file_name;
comment on view attention_axis_derivability is 'One row per version and attention kernel: on how many rows each axis of attention_special is known [source: measurement, source_file, kernel_path, op_mapping]';
comment on column attention_axis_derivability.version_key is 'Version [profile_version.version_key]';
comment on column attention_axis_derivability.kernel_type is 'Kernel that is placed on attention axes [source_file.kernel_type]';
comment on column attention_axis_derivability.file_name is 'CSV of the kernel, null when the version has none [source_file.file_name]';
comment on column attention_axis_derivability.row_count is 'Measurements of the file [count]';
comment on column attention_axis_derivability.q_tokens_rows is 'Rows whose query has 2 or 3 dims, or 4 with one token a request [count]';
comment on column attention_axis_derivability.seq_rows is 'Rows that tell a mean sequence length, from Runtime avg_seq_len if the CSV has it, else from avg_seq_len [count]';
comment on column attention_axis_derivability.batch_rows is 'Rows that tell the number of requests: Runtime batch_size, a 4-D query, or lengths that account for every token [count]';
comment on column attention_axis_derivability.heads_rows is 'Rows whose heads are a dim of the query, or follow from the head dim of the key [count]';
comment on column attention_axis_derivability.head_dim_rows is 'Rows whose head dim is a dim of the query, or follows from the key [count]';
