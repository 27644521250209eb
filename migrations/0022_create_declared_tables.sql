-- Measured tables of any layout: where their rows lie, and what declared them.
create table declared_file (
    file_id integer not null,
    declaration varchar not null,
    declaration_json varchar not null,
    repository varchar,
    source_commit varchar,
    licence varchar,
    axis_names varchar[] not null,
    axis_units varchar[] not null,
    axis_transforms varchar[] not null,
    regime_columns varchar[] not null,
    backend_column varchar,
    feasible_cells varchar,
    rows_filtered bigint not null
);
comment on table declared_file is 'One kernel of one table that a declaration made readable [source: declaration]';
comment on column declared_file.file_id is 'File and kernel [source_file.file_id]';
comment on column declared_file.declaration is 'Name of the declaration [text]';
comment on column declared_file.declaration_json is 'The declaration and the values given besides it [canonical JSON]';
comment on column declared_file.repository is 'Where the table was published, null when the declaration does not tell [text]';
comment on column declared_file.source_commit is 'Commit or release it was taken from [text]';
comment on column declared_file.licence is 'Licence of the table [SPDX identifier]';
comment on column declared_file.axis_names is 'Names of axis_1 ... axis_4 in order of preference for interpolation [list of text]';
comment on column declared_file.axis_units is 'Unit of each axis before its transform, empty when untold [list of text]';
comment on column declared_file.axis_transforms is 'How each axis is stored: identity, log2, log or sqrt of the value [list of text]';
comment on column declared_file.regime_columns is 'Names of the fields that must match exactly [list of text]';
comment on column declared_file.backend_column is 'Field of the regime whose values are alternatives of which the fastest counts, null when there is none [text]';
comment on column declared_file.feasible_cells is 'Which coordinates can exist at all, null when all can [SQL boolean over the axes]';
comment on column declared_file.rows_filtered is 'Rows of the table that the filters of the declaration leave out; not in source_file.rows_read [count]';

create table declared_row (
    row_id bigint not null,
    regime_key varchar not null,
    axis_1 double not null,
    axis_2 double not null,
    axis_3 double not null,
    axis_4 double not null,
    min_us double,
    max_us double,
    mean_us double,
    median_us double,
    std_us double
);
comment on table declared_row is 'Where measurements of declared tables lie, and the spread that their table tells [source: declared table]';
comment on column declared_row.row_id is 'The measurement [measurement.row_id]';
comment on column declared_row.regime_key is 'Fields that a target must equal [canonical JSON]';
comment on column declared_row.axis_1 is 'First axis named by declared_file.axis_names, as stored [axis unit after transform]';
comment on column declared_row.axis_2 is 'Second axis, 0 when unused [axis unit after transform]';
comment on column declared_row.axis_3 is 'Third axis, 0 when unused [axis unit after transform]';
comment on column declared_row.axis_4 is 'Fourth axis, 0 when unused [axis unit after transform]';
comment on column declared_row.min_us is 'Smallest of the repetitions behind the row, null when untold [us]';
comment on column declared_row.max_us is 'Largest of the repetitions [us]';
comment on column declared_row.mean_us is 'Mean of the repetitions [us]';
comment on column declared_row.median_us is 'Median of the repetitions [us]';
comment on column declared_row.std_us is 'Standard deviation of the repetitions [us]';

comment on column source_file.layout is 'Column set: legacy36, prefixed36, current62, minimal9, comm6, declared or other [text]';
comment on column source_file.policy_sha256 is 'SHA-256 of the latency policy, or of the declaration and its values, that the rows were read under [hex]';
comment on column measurement.latency_column is 'CSV or table column that latency_us came from [text]';
