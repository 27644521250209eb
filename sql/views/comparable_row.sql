-- What makes two measurements measurements of the same call: shapes, dtypes and formats (or regime and axes), and the context.
-- example: How many different calls of GroupedMatmul were measured in each version?
create or replace view comparable_row as
select row_id, file_id, version_id, kernel_type, row_number, line_number,
    if(d.row_id is null, row(input_shapes, operand_dtypes, operand_formats, output_shapes, output_dtypes)::varchar,
        row(d.regime_key, d.axis_1, d.axis_2, d.axis_3, d.axis_4)::varchar) as content,
    row(*columns(lambda name: name in ('ep_size', 'avg_seq_len', 'message_bytes', 'num_devices', 'topology_tier',
            'communication_dtype') or starts_with(name, 'runtime_') and name not in ('runtime_source_profile',
            'runtime_case_id', 'runtime_metadata_completeness', 'runtime_operator_input_shapes_raw')))::varchar as context
from measurement left join declared_row as d using (row_id);
comment on view comparable_row is 'One row per measurement; rows of a kernel with equal content and context measured the same call [source: measurement, declared_row]';
comment on column comparable_row.row_id is 'Measurement [measurement.row_id]';
comment on column comparable_row.file_id is 'File of the row [source_file.file_id]';
comment on column comparable_row.version_id is 'Version of the row [profile_version.version_id]';
comment on column comparable_row.kernel_type is 'Kernel [measurement.kernel_type]';
comment on column comparable_row.row_number is 'Data row, 1 = first after the header [count]';
comment on column comparable_row.line_number is 'Physical line where the row starts [count]';
comment on column comparable_row.content is 'Input shapes, dtypes and formats, output shapes and dtypes; empty slots count, their dtypes do not; regime and axes of rows of declared tables [text]';
comment on column comparable_row.context is 'EP size, sequence lengths, message and group size, and what Runtime columns say about the call, not where the row comes from [text]';
