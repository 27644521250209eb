-- What lookups search: regimes, points and exact keys, derived from measurement.
create table regime (
    regime_id integer not null,
    version_id integer not null,
    file_id integer not null,
    kernel_type varchar not null,
    path varchar not null,
    input_limit integer not null,
    regime_key varchar not null,
    input_formats varchar not null,
    output_dtypes varchar not null,
    is_nd boolean not null,
    axis_names varchar[] not null,
    latency_ranks integer[] not null,
    measurement_count bigint not null
);
comment on table regime is 'Every discrete field that must match exactly, one row per combination that was measured [source: sql/paths]';
comment on column regime.regime_id is 'Identifier of the regime [integer]';
comment on column regime.version_id is 'Version [profile_version.version_id]';
comment on column regime.file_id is 'File, and so kernel, of the regime [source_file.file_id]';
comment on column regime.kernel_type is 'Kernel [text]';
comment on column regime.path is 'Path that defines regime and axes, a file of sql/paths [text]';
comment on column regime.input_limit is 'tc_input_count that the regime was built for, 0 = all inputs [count]';
comment on column regime.regime_key is 'Fields that a target must equal [canonical JSON]';
comment on column regime.input_formats is 'Physical formats of the operands; a target may use any, never mixed [text]';
comment on column regime.output_dtypes is 'Output dtypes, a target that knows its own must equal them; empty when the path ignores them [text]';
comment on column regime.is_nd is 'Whether every operand is stored ND [boolean]';
comment on column regime.axis_names is 'Names of axis_1 ... axis_4 of the points [list of text]';
comment on column regime.latency_ranks is 'Ranks of the latency columns that the measurements have, ascending [rank]';
comment on column regime.measurement_count is 'Measurements in the regime [count]';

create table point (
    regime_id integer not null,
    latency_column varchar not null,
    latency_rank integer not null,
    axis_1 double not null,
    axis_2 double not null,
    axis_3 double not null,
    axis_4 double not null,
    latency_mean_us double not null,
    latency_median_us double not null,
    latency_min_us double not null,
    latency_first_us double not null,
    latency_max_us double not null,
    measurement_count bigint not null,
    first_row_id bigint not null,
    first_line_number bigint not null
);
comment on table point is 'Measurements of one coordinate in one regime and latency column, aggregated; sorted by regime and axes [source: measurement]';
comment on column point.regime_id is 'Regime of the point [regime.regime_id]';
comment on column point.latency_column is 'CSV column that the latencies came from [text]';
comment on column point.latency_rank is 'Preference of the latency column, 0 first [rank]';
comment on column point.axis_1 is 'First axis named by regime.axis_names, 0 when unused [elements]';
comment on column point.axis_2 is 'Second axis, 0 when unused [elements]';
comment on column point.axis_3 is 'Third axis, 0 when unused [elements]';
comment on column point.axis_4 is 'Fourth axis, 0 when unused [elements]';
comment on column point.latency_mean_us is 'Mean of the measurements [us]';
comment on column point.latency_median_us is 'Median of the measurements [us]';
comment on column point.latency_min_us is 'Smallest measurement [us]';
comment on column point.latency_first_us is 'First measurement in file order [us]';
comment on column point.latency_max_us is 'Largest measurement [us]';
comment on column point.measurement_count is 'Measurements aggregated into the point [count]';
comment on column point.first_row_id is 'First measurement of the point [measurement.row_id]';
comment on column point.first_line_number is 'Line of that measurement in its CSV [count]';
