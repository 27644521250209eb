-- Shapes that are in a CSV but were never measured.
-- example: Which MatMulV2 shapes of the newest version still wait for a measurement?
create or replace view missing_latency as
select v.version_key, u.kernel_type, f.file_name, u.row_number, u.line_number, u.input_shapes, u.input_dtypes,
    u.input_formats, u.output_shapes, u.output_dtypes
from unmeasured_row as u join source_file as f using (file_id) join profile_version as v on v.version_id = u.version_id
order by v.version_key, u.kernel_type, u.row_number;
comment on view missing_latency is 'One row per CSV row whose latency cells are all blank or zero [source: unmeasured_row]';
comment on column missing_latency.version_key is 'Version [profile_version.version_key]';
comment on column missing_latency.kernel_type is 'Kernel [unmeasured_row.kernel_type]';
comment on column missing_latency.file_name is 'CSV of the row [source_file.file_name]';
comment on column missing_latency.row_number is 'Data row, 1 = first after the header [count]';
comment on column missing_latency.line_number is 'Physical line where the row starts [count]';
comment on column missing_latency.input_shapes is 'CSV column Input Shapes, as written [text]';
comment on column missing_latency.input_dtypes is 'CSV column Input Data Types, as written [text]';
comment on column missing_latency.input_formats is 'CSV column Input Formats, as written [text]';
comment on column missing_latency.output_shapes is 'CSV column Output Shapes, as written [text]';
comment on column missing_latency.output_dtypes is 'CSV column Output Data Types, as written [text]';
