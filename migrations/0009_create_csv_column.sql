-- Which CSV header fills which column; a migration that adds a column adds its header here.
create table csv_column (csv_name varchar primary key, table_name varchar not null, column_name varchar not null);
comment on table csv_column is 'CSV headers that ingest knows and the columns that they fill [source: migrations]';
comment on column csv_column.csv_name is 'Header in the CSV [text]';
comment on column csv_column.table_name is 'Table that is filled: measurement or hardware_counter [text]';
comment on column csv_column.column_name is 'Column that is filled [text]';
insert into csv_column values
    ('OP State', 'measurement', 'op_state'),
    ('Accelerator Core', 'measurement', 'accelerator_core'),
    ('Input Shapes', 'measurement', 'input_shapes'),
    ('Input Data Types', 'measurement', 'input_dtypes'),
    ('Input Formats', 'measurement', 'input_formats'),
    ('Output Shapes', 'measurement', 'output_shapes'),
    ('Output Data Types', 'measurement', 'output_dtypes'),
    ('Output Formats', 'measurement', 'output_formats'),
    ('Average Duration(us)', 'measurement', 'average_us'),
    ('Profiling Average Duration(us)', 'measurement', 'profiling_average_us'),
    ('Profiling Median Duration(us)', 'measurement', 'profiling_median_us'),
    ('Profiling Std Duration(us)', 'measurement', 'profiling_std_us'),
    ('Median Duration(us)', 'measurement', 'median_us'),
    ('Std Duration(us)', 'measurement', 'std_us'),
    ('Duration(us)', 'measurement', 'duration_us');
