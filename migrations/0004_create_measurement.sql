-- Usable CSV rows, cells typed.
create table measurement (
    row_id bigint not null,
    file_id integer not null,
    version_id integer not null,
    kernel_type varchar not null,
    row_number bigint not null,
    line_number bigint not null,
    op_state varchar,
    accelerator_core varchar,
    input_shapes bigint[][],
    input_dtypes varchar[],
    input_formats varchar[],
    output_shapes bigint[][],
    output_dtypes varchar[],
    output_formats varchar[],
    operand_shapes bigint[][],
    operand_dtypes varchar[],
    operand_formats varchar[],
    operand_gaps bigint[],
    signature_id bigint not null,
    latency_us double not null,
    latency_column varchar not null,
    latency_rank integer not null,
    raw_latency_us double not null,
    average_us double,
    profiling_average_us double,
    profiling_median_us double,
    profiling_std_us double,
    median_us double,
    std_us double,
    duration_us double,
    extra_json varchar
);
comment on table measurement is 'One usable CSV row [source: kernel CSV]';
comment on column measurement.row_id is 'Identifier of the row, ascending in file order [integer]';
comment on column measurement.file_id is 'File of the row [source_file.file_id]';
comment on column measurement.version_id is 'Version of the row [profile_version.version_id]';
comment on column measurement.kernel_type is 'Kernel [text]';
comment on column measurement.row_number is 'Data row, 1 = first after the header [count]';
comment on column measurement.line_number is 'Physical line where the row starts [count]';
comment on column measurement.op_state is 'CSV column OP State [text]';
comment on column measurement.accelerator_core is 'CSV column Accelerator Core [text]';
comment on column measurement.input_shapes is 'CSV column Input Shapes by slot; null = empty optional slot [elements]';
comment on column measurement.input_dtypes is 'CSV column Input Data Types by slot, aliases resolved [text]';
comment on column measurement.input_formats is 'CSV column Input Formats by slot [text]';
comment on column measurement.output_shapes is 'CSV column Output Shapes by slot; null = malformed or absent [elements]';
comment on column measurement.output_dtypes is 'CSV column Output Data Types by slot, aliases resolved [text]';
comment on column measurement.output_formats is 'CSV column Output Formats by slot [text]';
comment on column measurement.operand_shapes is 'Input shapes without empty slots, FRACTAL_NZ restored to ND [elements]';
comment on column measurement.operand_dtypes is 'Dtypes of operand_shapes [text]';
comment on column measurement.operand_formats is 'Physical formats of operand_shapes; null when the file has none [text]';
comment on column measurement.operand_gaps is 'Empty slots in front of each operand [count]';
comment on column measurement.signature_id is 'Equal for rows with the same shapes, dtypes, formats, outputs and enrichment; ordered by content, all-ND first [integer]';
comment on column measurement.latency_us is 'Effective latency after latency_policy [us]';
comment on column measurement.latency_column is 'CSV column that latency_us came from [text]';
comment on column measurement.latency_rank is 'Preference of the latency column under the policy, 0 first [rank]';
comment on column measurement.raw_latency_us is 'Latency before core-envelope replacement [us]';
comment on column measurement.average_us is 'CSV column Average Duration(us): profiling mean in legacy36, microbenchmark minimum in current62 [us]';
comment on column measurement.profiling_average_us is 'CSV column Profiling Average Duration(us) [us]';
comment on column measurement.profiling_median_us is 'CSV column Profiling Median Duration(us) [us]';
comment on column measurement.profiling_std_us is 'CSV column Profiling Std Duration(us) [us]';
comment on column measurement.median_us is 'CSV column Median Duration(us) [us]';
comment on column measurement.std_us is 'CSV column Std Duration(us) [us]';
comment on column measurement.duration_us is 'CSV column Duration(us) [us]';
comment on column measurement.extra_json is 'Cells of columns that no migration knows [JSON object]';
