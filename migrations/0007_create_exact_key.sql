-- Keys of the exact lookup, and what no path could place.
create table exact_key (
    file_id integer not null,
    match_key varchar not null,
    is_bare boolean not null,
    latency_mean_us double not null,
    latency_median_us double not null,
    latency_min_us double not null,
    latency_first_us double not null,
    latency_max_us double not null,
    measurement_count bigint not null,
    latency_rank integer not null,
    latency_column varchar not null,
    signature_id bigint not null,
    row_id bigint not null,
    line_number bigint not null
);
comment on table exact_key is 'Groups of equal measurements under every key that an exact lookup can find them by, sorted by file and key [source: sql/ingest/row_keys.sql]';
comment on column exact_key.file_id is 'File, and so kernel [source_file.file_id]';
comment on column exact_key.match_key is 'Operand shapes in one form (as is, leading 1 off, s: weight dims sorted, p: sizes rounded up to 64), then dtypes, gaps, cut [text]';
comment on column exact_key.is_bare is 'Whether a leading 1 was taken off to make the key [boolean]';
comment on column exact_key.latency_mean_us is 'Mean of the measurements with this signature and latency column [us]';
comment on column exact_key.latency_median_us is 'Median of those measurements [us]';
comment on column exact_key.latency_min_us is 'Smallest of those measurements [us]';
comment on column exact_key.latency_first_us is 'First of those measurements in file order [us]';
comment on column exact_key.latency_max_us is 'Largest of those measurements [us]';
comment on column exact_key.measurement_count is 'Number of those measurements [count]';
comment on column exact_key.latency_rank is 'Preference of the latency column, 0 first [rank]';
comment on column exact_key.latency_column is 'CSV column that the latencies came from [text]';
comment on column exact_key.signature_id is 'Rows with equal content share it [measurement.signature_id]';
comment on column exact_key.row_id is 'First measurement of the group [measurement.row_id]';
comment on column exact_key.line_number is 'Line of that measurement in its CSV [count]';

create table dropped_point (
    file_id integer not null,
    path varchar not null,
    reason varchar not null,
    row_count bigint not null
);
comment on table dropped_point is 'Measurements that a path cannot place on its axes, counted by reason [source: sql/paths]';
comment on column dropped_point.file_id is 'File, and so kernel [source_file.file_id]';
comment on column dropped_point.path is 'Path [text]';
comment on column dropped_point.reason is 'Why the rows are no points of the path [identifier]';
comment on column dropped_point.row_count is 'Rows concerned [count]';
