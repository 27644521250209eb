-- Every row that is no measurement, and every oddity ingest noticed.
create table rejected_row (
    file_id integer not null,
    row_number bigint not null,
    line_number bigint not null,
    column_name varchar,
    reason varchar not null,
    cell varchar
);
comment on table rejected_row is 'CSV rows that could not be used, one row each [source: ingest]';
comment on column rejected_row.file_id is 'File of the row [source_file.file_id]';
comment on column rejected_row.row_number is 'Data row, 1 = first after the header [count]';
comment on column rejected_row.line_number is 'Physical line where the row starts [count]';
comment on column rejected_row.column_name is 'CSV column that is wrong, null when the whole row is [text]';
comment on column rejected_row.reason is 'Why the row was rejected [identifier]';
comment on column rejected_row.cell is 'The offending cell or row, cut to 200 characters [text]';

create table source_issue (
    file_id integer,
    version_id integer,
    line_number bigint,
    column_name varchar,
    severity varchar not null check (severity in ('warning', 'error')),
    reason varchar not null,
    message varchar not null
);
comment on table source_issue is 'Everything ingest noticed that did not reject a row: odd cells, headers, mapping entries [source: ingest]';
comment on column source_issue.file_id is 'File concerned, null for op_mapping.yaml and folders [source_file.file_id]';
comment on column source_issue.version_id is 'Version concerned [profile_version.version_id]';
comment on column source_issue.line_number is 'Physical line, null when it concerns the whole file [count]';
comment on column source_issue.column_name is 'CSV column or mapping key concerned [text]';
comment on column source_issue.severity is 'warning, or error when the file or entry is unusable [text]';
comment on column source_issue.reason is 'Kind of issue [identifier]';
comment on column source_issue.message is 'What, where, and what to do [text]';

create table unmeasured_row (
    file_id integer not null,
    version_id integer not null,
    kernel_type varchar not null,
    row_number bigint not null,
    line_number bigint not null,
    input_shapes varchar,
    input_dtypes varchar,
    input_formats varchar,
    output_shapes varchar,
    output_dtypes varchar
);
comment on table unmeasured_row is 'CSV rows whose latency cells are all blank or zero: shapes waiting for a measurement [source: CSV]';
comment on column unmeasured_row.file_id is 'File of the row [source_file.file_id]';
comment on column unmeasured_row.version_id is 'Version of the row [profile_version.version_id]';
comment on column unmeasured_row.kernel_type is 'Kernel [text]';
comment on column unmeasured_row.row_number is 'Data row, 1 = first after the header [count]';
comment on column unmeasured_row.line_number is 'Physical line where the row starts [count]';
comment on column unmeasured_row.input_shapes is 'CSV column Input Shapes, as written [text]';
comment on column unmeasured_row.input_dtypes is 'CSV column Input Data Types, as written [text]';
comment on column unmeasured_row.input_formats is 'CSV column Input Formats, as written [text]';
comment on column unmeasured_row.output_shapes is 'CSV column Output Shapes, as written [text]';
comment on column unmeasured_row.output_dtypes is 'CSV column Output Data Types, as written [text]';
