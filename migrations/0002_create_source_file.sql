-- Files of a version and what became of their rows.
create table source_file (
    file_id integer primary key,
    version_id integer not null,
    kernel_type varchar not null,
    file_name varchar not null,
    file_path varchar not null,
    status varchar not null,
    message varchar,
    layout varchar,
    sha256 varchar not null,
    policy_sha256 varchar not null,
    size_bytes bigint not null,
    bom_count integer not null,
    column_names varchar[] not null,
    unknown_columns varchar[] not null,
    preferred_latency_column varchar,
    rows_read bigint not null,
    rows_stored bigint not null,
    rows_rejected bigint not null,
    rows_without_latency bigint not null
);
comment on table source_file is 'One CSV file of a version directory; its stem is the kernel [source: folder listing]';
comment on column source_file.file_id is 'Identifier of the file, and so of (version, kernel) [integer]';
comment on column source_file.version_id is 'Version that the file belongs to [profile_version.version_id]';
comment on column source_file.kernel_type is 'Kernel name, the stem of the file [text]';
comment on column source_file.file_name is 'File name inside the version folder [text]';
comment on column source_file.file_path is 'Absolute path when it was ingested [text]';
comment on column source_file.status is 'loaded, or why nothing was loaded: lfs_pointer, empty_file, not_utf8, header_invalid, unreadable [text]';
comment on column source_file.message is 'What is wrong with the file and what to do, null when loaded cleanly [text]';
comment on column source_file.layout is 'Column set: legacy36, prefixed36, current62, minimal9, comm6 or other [text]';
comment on column source_file.sha256 is 'SHA-256 of the file content [hex]';
comment on column source_file.policy_sha256 is 'SHA-256 of the latency policy the rows were read under [hex]';
comment on column source_file.size_bytes is 'Size of the file [bytes]';
comment on column source_file.bom_count is 'Number of UTF-8 byte order marks at the start [count]';
comment on column source_file.column_names is 'Header names in file order [list of text]';
comment on column source_file.unknown_columns is 'Header names no migration knows; kept in measurement.extra_json [list of text]';
comment on column source_file.preferred_latency_column is 'First latency column that the header has, in reading order [CSV column name]';
comment on column source_file.rows_read is 'Data rows read = stored + rejected + without latency [count]';
comment on column source_file.rows_stored is 'Rows in measurement [count]';
comment on column source_file.rows_rejected is 'Rows in rejected_row [count]';
comment on column source_file.rows_without_latency is 'Rows in unmeasured_row [count]';
